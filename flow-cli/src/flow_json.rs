//! Files of flow JSON: one flow, or a list of flows.

use std::path::Path;

use flow_spec::document::Problems;
use flow_spec::{FlowDocument, Problem};
use serde_json::value::RawValue;

/// Returns true if a file is flow JSON, judged by its name, or else by its beginning.
pub(crate) fn is_json(path: &Path, bytes: &[u8]) -> bool {
    let bytes = without_mark(bytes);
    let begins = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    is_named_json(path) || matches!(begins, Some(b'{' | b'['))
}

/// A flow in a flow JSON.
#[derive(Debug)]
pub(crate) struct Located {
    /// The place of the flow: a JSON pointer, `""` if the flow is the whole file.
    pub(crate) pointer: String,
    /// The flow.
    pub(crate) flow: FlowDocument,
}

impl Located {
    /// The findings of the analysis, at their places in the whole file.
    fn check(&self) -> impl Iterator<Item = Problem> {
        let problems = self.flow.check().into_iter();
        problems.map(|problem| inside(&self.pointer, problem))
    }
}

/// Reads flow JSON: one flow, or a list of flows as `cargo flow export` prints several of them.
///
/// # Errors
///
/// The problems, each at its JSON pointer. At most as many as are listed for a single flow.
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
    if problems.is_empty() {
        Ok(flows)
    } else {
        Err(problems.into_vec())
    }
}

/// The problems of flow JSON: those of [`parse`], or else those of the analysis.
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

/// The problem with its place in the document around it.
fn inside(pointer: &str, mut problem: Problem) -> Problem {
    problem.pointer.insert_str(0, pointer);
    problem
}

/// Returns true if the name of the file ends with `.json`.
pub(crate) fn is_named_json(path: &Path) -> bool {
    let ending = path.extension();
    ending.is_some_and(|ending| ending.eq_ignore_ascii_case("json"))
}

fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}
