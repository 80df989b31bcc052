//! Files of flow JSON: one flow, or a list of flows.

use std::path::Path;

use flow_spec::{FlowDocument, Problem};
use serde_json::Value;

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
    pub(crate) fn check(&self) -> Vec<Problem> {
        let problems = self.flow.check().into_iter();
        problems
            .map(|problem| inside(&self.pointer, problem))
            .collect()
    }
}

/// Reads flow JSON: one flow, or a list of flows as `cargo flow export` prints several.
///
/// # Errors
///
/// What is wrong with it, each at its JSON pointer.
pub(crate) fn parse(text: &str) -> Result<Vec<Located>, Vec<Problem>> {
    let text = text.trim_start_matches('\u{feff}');
    let Ok(Value::Array(values)) = serde_json::from_str(text) else {
        let flow = FlowDocument::parse(text)?;
        let pointer = String::new();
        return Ok(vec![Located { pointer, flow }]);
    };
    let mut flows = Vec::new();
    let mut problems = Vec::new();
    for (index, value) in values.iter().enumerate() {
        let pointer = format!("/{index}");
        match FlowDocument::from_value(value) {
            Ok(flow) => flows.push(Located { pointer, flow }),
            Err(found) => {
                problems.extend(found.into_iter().map(|problem| inside(&pointer, problem)))
            }
        }
    }
    match problems.is_empty() {
        true => Ok(flows),
        false => Err(problems),
    }
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
