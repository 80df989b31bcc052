//! Questions to people: a document has the prompt, and the registry the type of the answer.

use flow_spec::document::types;
use flow_spec::{Code, NodeDocument};
use serde_json::Value;

use crate::prompt::Prompt;

use super::Loader;

/// The prompt of a node that asks people. `None` if it does not ask people.
pub(super) fn prompt(node: &NodeDocument) -> Option<Result<Prompt, (String, &'static str)>> {
    if node.r#type != types::HUMAN {
        return None;
    }
    let prompt = node.params.get("prompt").and_then(Value::as_str)?;
    Some(Prompt::parse(prompt))
}

impl Loader<'_> {
    /// The prompt of a node that asks people. Reports one that cannot be read.
    pub(super) fn prompt(&mut self, node: &NodeDocument, pointer: &str) -> Option<Prompt> {
        match prompt(node)? {
            Ok(prompt) => Some(prompt),
            Err((message, help)) => {
                let place = format!("{pointer}/params/prompt");
                self.problem(Code::Malformed, place, message, Some(help.to_owned()));
                None
            }
        }
    }
}
