//! What a node read and wrote, in short.

use flow_spec::NodeDocument;
use serde::Serialize;
use serde_json::{Map, Value};

/// The longest text of a value, in characters.
const LONGEST: usize = 200;

/// What stands behind a text that was cut.
const CUT: &str = "... (truncated)";

/// The settings of a node, what it read and what it wrote, as far as they are known at an event.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct NodeValues {
    /// The values of the node's own settings, when it is reached, without secrets. Those of a loaded
    /// flow are in the stored structure of the flow. Those of a compiled flow are not stored: they
    /// are told by a runtime that has registered the flow with the same structure, with the values
    /// that the settings have there, if `flow-runtime` has the feature `json`. Which of them are
    /// secret says `#[derive(Params)]`; without it, none is told.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub params: Map<String, Value>,
    /// What it reads, when it is reached.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reads: Vec<KeyAccess>,
    /// How many items a loop has, when it is reached, if the journal shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items: Option<usize>,
    /// What it itself wrote, when it took its action: for a flow, its outputs, and for a fork nothing,
    /// since its branches did.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<KeyAccess>,
}

/// A key that a node read or wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct KeyAccess {
    /// The key of the flow.
    pub key: String,
    /// The value in short.
    pub value: AccessedValue,
}

/// A value that was read or written, in short.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum AccessedValue {
    /// Its JSON: up to 200 characters, and then `... (truncated)` if there are more.
    Summary(String),
    /// The key has no value: the node reads an `Option`.
    Missing,
    /// The journal does not show it: see [`ExecutionState::unknown`](crate::ExecutionState::unknown).
    Unknown,
}

impl KeyAccess {
    /// `None` if the key has no value, `Some(None)` if the value is not known.
    pub(crate) fn new(key: &str, value: Option<&Option<Value>>) -> Self {
        KeyAccess {
            key: key.to_owned(),
            value: match value {
                None => AccessedValue::Missing,
                Some(None) => AccessedValue::Unknown,
                Some(Some(value)) => AccessedValue::Summary(summary(value)),
            },
        }
    }
}

/// The settings of a node. The parts of a node of the language are not settings.
pub(super) fn params(node: &NodeDocument) -> Map<String, Value> {
    if node.r#type.contains('.') {
        return Map::new();
    }
    node.params.clone()
}

fn summary(value: &Value) -> String {
    let mut text = value.to_string();
    if let Some((end, _)) = text.char_indices().nth(LONGEST) {
        text.truncate(end);
        text.push_str(CUT);
    }
    text
}

#[cfg(test)]
mod tests {
    use flow_spec::FlowDocument;
    use flow_store::{Record, RecordKind};
    use serde_json::json;
    use uuid::Uuid;

    use super::*;
    use crate::values::{State, Values};

    /// B-109, TE-05
    #[test]
    fn a_summary_has_at_most_200_characters_and_says_that_it_was_cut() {
        assert_eq!(summary(&json!({ "a": [1, null] })), r#"{"a":[1,null]}"#);
        assert_eq!(
            summary(&json!("ä".repeat(198))),
            format!("\"{}\"", "ä".repeat(198))
        );
        let long = summary(&json!("ä".repeat(199)));
        assert_eq!(long, format!("\"{}... (truncated)", "ä".repeat(199)));
    }

    /// D-21: settings are those of the document.
    #[test]
    fn the_settings_of_a_node_are_told_when_it_is_reached() {
        let mut flow = FlowDocument::new("Report", "report");
        flow.nodes.push(NodeDocument {
            r#type: "write".to_owned(),
            id: "write".to_owned(),
            params: Map::from_iter([("title".to_owned(), json!("squares"))]),
            ..NodeDocument::default()
        });
        let mut values = Values::new(Uuid::nil().into(), &flow, State::default());
        let record = Record {
            seq: 1,
            at_ms: 0,
            kind: RecordKind::NodeStarted,
            path: "report.write".to_owned(),
            step: "report.write".to_owned(),
            visit: 1,
            item: None,
            attempt: 0,
            payload: String::new(),
        };
        let accessed = values.accessed(&record).unwrap();
        assert_eq!(json!(accessed), json!({ "params": { "title": "squares" } }));
    }
}
