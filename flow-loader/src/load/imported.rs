//! Details of other tools' workflows that only the registry knows.

use std::borrow::Cow;

use flow_spec::FlowDocument;
use flow_text::{Document, Notation};
use serde_json::Value;

use crate::registry::{Item, Registry};

/// The name under which an agent receives the result of another step.
const INPUT: &str = "input";

/// The flow of a document. The engine of OpenAgents also gives an agent the result of another step
/// under the name of that step. An agent that reads this name, and no `input`, needs no mapping.
pub(super) fn settled<'d>(document: &'d Document, registry: &Registry) -> Cow<'d, FlowDocument> {
    let flow = document.flow();
    if document.notation() != Notation::OpenAgentsEngine {
        return Cow::Borrowed(flow);
    }
    let mut flow = flow.clone();
    for node in &mut flow.nodes {
        let reads = |name: &str| match registry.find(&node.r#type).map(|entry| &entry.item) {
            Ok(Item::Node(adapter)) => adapter.reads.iter().any(|read| read.name == name),
            Ok(Item::Flow(flow)) => flow.inputs.properties.contains_key(name),
            Err(_) => false,
        };
        let key = node.mappings.inputs.get(INPUT).and_then(Value::as_str);
        if key.is_some_and(|key| !reads(INPUT) && reads(key)) {
            node.mappings.inputs.remove(INPUT);
        }
    }
    Cow::Owned(flow)
}
