//! The values that a node read and wrote, in short.

use flow_spec::NodeDocument;
use serde::Serialize;
use serde_json::{Map, Value};

/// The longest text of a value, in characters.
const LONGEST: usize = 200;

/// The mark at the end of a text that was cut.
const CUT: &str = "... (truncated)";

/// The settings of a node and the values that it read and wrote, if they are known at an event.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct NodeValues {
    /// The values of the node's own settings when it is reached, without secrets. For a loaded
    /// flow, they are in the stored structure. For a compiled flow, they are not stored. A runtime
    /// that has registered the flow with the same structure adds the values that it has there, if
    /// `flow-runtime` has the feature `json`. `#[derive(Params)]` says which are secret; without
    /// it, none is shown.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub params: Map<String, Value>,
    /// The values that it reads when it is reached.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reads: Vec<KeyAccess>,
    /// The number of items of a loop when it is reached, if the journal shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items: Option<usize>,
    /// The values that it wrote itself when it took its action. For a flow these are its outputs; a
    /// fork writes none, since its branches do.
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
    /// True if the node added the value to the key's value before.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub added: bool,
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
    /// Not shown by the journal: see [`ExecutionState::unknown`](crate::ExecutionState::unknown).
    Unknown,
}

impl KeyAccess {
    /// `value` is `None` if the key has no value, and `Some(None)` if the value is not known.
    pub(crate) fn new(key: &str, value: Option<&Option<Value>>) -> Self {
        KeyAccess {
            key: key.to_owned(),
            value: match value {
                None => AccessedValue::Missing,
                Some(None) => AccessedValue::Unknown,
                Some(Some(value)) => AccessedValue::Summary(summary(value)),
            },
            added: false,
        }
    }

    /// A value that a node wrote or added.
    pub(crate) fn written(key: &str, value: &Option<Value>, added: bool) -> Self {
        KeyAccess {
            added,
            ..KeyAccess::new(key, Some(value))
        }
    }
}

/// The settings of a node. The parameters of a built-in node are not settings.
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
