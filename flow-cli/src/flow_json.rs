//! Files of flow JSON: one flow, or a list of flows.

use std::path::Path;

use flow_spec::document::Problems;
use flow_spec::{FlowDocument, Problem};
use serde_json::value::RawValue;

/// Whether a file is flow JSON: by its name, or else by how it begins.
pub(crate) fn is_json(path: &Path, bytes: &[u8]) -> bool {
    let bytes = without_mark(bytes);
    let begins = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    is_named_json(path) || matches!(begins, Some(b'{' | b'['))
}

/// A flow in a flow JSON.
#[derive(Debug)]
pub(crate) struct Located {
    /// Where it is: a JSON pointer, `""` if it is all there is.
    pub(crate) pointer: String,
    /// The flow.
    pub(crate) flow: FlowDocument,
}

impl Located {
    /// What the analysis finds, at the places in the whole file.
    fn check(&self) -> impl Iterator<Item = Problem> {
        let problems = self.flow.check().into_iter();
        problems.map(|problem| inside(&self.pointer, problem))
    }
}

/// Reads flow JSON: one flow, or a list of flows as `cargo flow export` prints several, one after
/// the other.
///
/// # Errors
///
/// What is wrong with it, each at its JSON pointer: as much as is listed of one flow.
pub(crate) fn parse(text: &str) -> Result<Vec<Located>, Vec<Problem>> {
    let text = text.trim_start_matches('\u{feff}');
    let Ok(items) = serde_json::from_str::<Vec<&RawValue>>(text) else {
        let flow = FlowDocument::parse(text)?;
        let pointer = String::new();
        return Ok(vec![Located { pointer, flow }]);
    };
    let mut flows = Vec::new();
    let mut problems = Problems::default();
    for (index, item) in items.iter().enumerate() {
        let pointer = format!("/{index}");
        match FlowDocument::parse(item.get()) {
            Ok(flow) => flows.push(Located { pointer, flow }),
            Err(found) => {
                problems.extend(found.into_iter().map(|problem| inside(&pointer, problem)))
            }
        }
        if problems.is_full() {
            break;
        }
    }
    match problems.is_empty() {
        true => Ok(flows),
        false => Err(problems.into_vec()),
    }
}

/// What is wrong with flow JSON: as [`parse`] says, or else what the analysis finds.
pub(crate) fn check(text: &str) -> Vec<Problem> {
    let flows = match parse(text) {
        Ok(flows) => flows,
        Err(problems) => return problems,
    };
    let mut problems = Problems::default();
    for flow in &flows {
        if problems.is_full() {
            break;
        }
        problems.extend(flow.check());
    }
    problems.into_vec()
}

/// The problem as it is seen from the document around.
fn inside(pointer: &str, mut problem: Problem) -> Problem {
    problem.pointer.insert_str(0, pointer);
    problem
}

/// Whether the name of a file ends with `.json`.
pub(crate) fn is_named_json(path: &Path) -> bool {
    let ending = path.extension();
    ending.is_some_and(|ending| ending.eq_ignore_ascii_case("json"))
}

fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}
