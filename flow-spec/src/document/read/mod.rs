//! Reads JSON, and reports all problems at once, each with its JSON pointer.
//!
//! One mistake should be one problem. A value that cannot be read is reported and leaves a hole (a
//! blank text, an empty list), about which no later check complains. A document with more problems
//! than are listed is not read to its end.

mod builtin;
mod duplicates;
mod flow;
mod names;
mod node;
pub(in crate::document) mod object;
mod schema;
mod settings;

pub(in crate::document) use names::{Ports, check_mappings};

use serde_json::Value;

use crate::diagnostic::Code;

use super::FlowDocument;
use super::problem::{Problem, Problems};

impl FlowDocument {
    /// Reads a document. This does not check that the flow is sound: see
    /// [`check`](FlowDocument::check).
    ///
    /// # Errors
    ///
    /// All problems of the document, including those of the inner flows:
    ///
    /// - it is not JSON, has a name twice in one object, or is nested deeper than
    ///   [`DEEPEST`](super::DEEPEST) levels;
    /// - its version is not [`VERSION`](super::VERSION);
    /// - a field is missing, unknown or of the wrong type;
    /// - an id occurs twice, or the name of a node, a value or a type of the language does not
    ///   exist;
    /// - the start of the flow is not given.
    ///
    /// After [`MOST_PROBLEMS`](super::MOST_PROBLEMS), the list ends with a note that there are
    /// more.
    pub fn parse(text: &str) -> Result<FlowDocument, Vec<Problem>> {
        // Some editors write a byte order mark before the text.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let value: Value = serde_json::from_str(text)
            .map_err(|error| vec![Problem::new(Code::Document, "", no_json(&error))])?;
        let mut problems = Problems::default();
        duplicates::find(text, &mut problems);
        let flow = flow::flow(&value, "", 0, &mut problems);
        finished(flow, problems)
    }

    /// Parses the JSON in a program, like [`parse`](FlowDocument::parse). There, inner flows have
    /// no namespaces, so these are filled in.
    ///
    /// # Errors
    ///
    /// See [`parse`](FlowDocument::parse).
    pub fn parse_spec(text: &str) -> Result<FlowDocument, Vec<Problem>> {
        let mut flow = FlowDocument::parse(text)?;
        flow.fill_namespaces();
        Ok(flow)
    }

    /// Reads JSON that was parsed already, like [`parse`](FlowDocument::parse).
    ///
    /// # Errors
    ///
    /// See [`parse`](FlowDocument::parse).
    pub fn from_value(value: &Value) -> Result<FlowDocument, Vec<Problem>> {
        let mut problems = Problems::default();
        let flow = flow::flow(value, "", 0, &mut problems);
        finished(flow, problems)
    }
}

fn finished(flow: Option<FlowDocument>, problems: Problems) -> Result<FlowDocument, Vec<Problem>> {
    match flow {
        Some(flow) if problems.is_empty() => Ok(flow),
        _ => Err(problems.into_vec()),
    }
}

fn no_json(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let what = text.split(" at line ").next().unwrap_or(&text);
    let place = format!("line {}, column {}", error.line(), error.column());
    match what {
        "recursion limit exceeded" => {
            format!("lists and objects stand too deep in one another ({place})")
        }
        _ => format!("this is not JSON: {what} ({place})"),
    }
}
