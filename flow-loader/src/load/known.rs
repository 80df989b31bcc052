//! Facts about a node or a flow, without a document that uses it.

use flow_spec::{FlowDocument, NodeDocument};

use crate::Registry;
use crate::adapter::Adapter;

use super::Loader;
use super::complete::complete_flow;

/// A node of a document, completed from a registered node.
pub(crate) fn completed_node(adapter: &Adapter) -> NodeDocument {
    let mut node = NodeDocument::default();
    let registry = Registry::new();
    Loader::new(&registry).complete_node(&mut node, adapter, "", false);
    node
}

/// A node of a document that is this flow, completed from it. The flow may be unsound.
pub(crate) fn completed_flow(flow: &FlowDocument, registry: &Registry) -> NodeDocument {
    let mut loader = Loader::new(registry);
    let mut flow = loader.resolve(flow);
    loader.complete(&mut flow, "");
    let mut node = NodeDocument {
        internal_flow: Some(Box::new(flow)),
        ..NodeDocument::default()
    };
    complete_flow(&mut node);
    node
}
