//! The signals that a flow waits for.

use serde_json::Value;

use crate::document::{FlowDocument, NodeDocument, types};

use super::node_path;

/// A node that waits for a signal, with its path and the name of the signal.
#[derive(Debug, Clone, PartialEq)]
pub struct SignalAt<'a> {
    /// The ids from the outermost flow down to the node, as runs name it: `order.stop`. The body of a
    /// loop has the id of the loop.
    pub path: String,
    /// The name of the signal, as [`NodeDocument::signal`] returns it.
    pub name: &'a str,
    /// The node.
    pub node: &'a NodeDocument,
}

impl NodeDocument {
    /// Returns the name of the signal for which the node waits, or `None` for any other node.
    ///
    /// A signal of a type has the name of the type, without its path, its generic arguments and its
    /// version.
    ///
    /// # Examples
    ///
    /// ```
    /// use flow_spec::FlowDocument;
    ///
    /// let text = r#"{ "version": "2.0.0", "entryNodeId": "stop", "nodes": [
    ///   { "type": "flow.signal", "id": "stop", "params": { "expects": "shop::CancelRequest@1.2.0" } },
    ///   { "type": "flow.signal", "id": "address", "params": { "name": "new_address" } },
    ///   { "type": "mail", "id": "mail" }
    /// ], "edges": [] }"#;
    /// let flow = FlowDocument::parse(text).unwrap();
    /// let names: Vec<_> = flow.nodes.iter().map(|node| node.signal()).collect();
    /// assert_eq!(names, [Some("CancelRequest"), Some("new_address"), None]);
    /// ```
    pub fn signal(&self) -> Option<&str> {
        if self.r#type != types::SIGNAL {
            return None;
        }
        let param = |name: &str| self.params.get(name).and_then(Value::as_str);
        param("name").or_else(|| param("expects").map(name_of_type))
    }
}

/// The name of a type without its path, its generic arguments and its version.
fn name_of_type(expects: &str) -> &str {
    let path = expects.split(['@', '<']).next().unwrap_or(expects);
    path.rsplit("::").next().unwrap_or(path)
}

impl FlowDocument {
    /// Returns the nodes at all levels that wait for a signal, in the order of
    /// [`flatten_nodes`](FlowDocument::flatten_nodes). Several may wait for the same one.
    ///
    /// An inner flow that was left out of the export may wait for more.
    ///
    /// # Examples
    ///
    /// ```
    /// # let text = r#"{ "version": "2.0.0", "nodes": [{ "type": "Order", "id": "order", "internalFlow": {
    /// #   "version": "2.0.0", "nodes": [{ "type": "flow.signal", "id": "stop",
    /// #   "params": { "expects": "CancelRequest" } }], "edges": [] } }], "edges": [] }"#;
    /// # let flow = flow_spec::FlowDocument::parse(text).unwrap();
    /// let signals = flow.signals();
    /// assert_eq!((&*signals[0].path, signals[0].name), ("order.stop", "CancelRequest"));
    /// assert!(signals.iter().any(|signal| signal.name == "CancelRequest"));
    /// ```
    pub fn signals(&self) -> Vec<SignalAt<'_>> {
        let mut found = Vec::new();
        add(self, "", &mut found);
        found
    }
}

fn add<'a>(flow: &'a FlowDocument, around: &str, found: &mut Vec<SignalAt<'a>>) {
    let owners = flow.owners();
    for node in &flow.nodes {
        let owner = owners.get(node.id.as_str());
        let each = owner.filter(|owner| owner.r#type == types::EACH);
        let path = node_path(around, each.map_or(&node.id, |each| &each.id));
        if let Some(inner) = &node.internal_flow {
            add(inner, &path, found);
        }
        if let Some(name) = node.signal() {
            found.push(SignalAt { path, name, node });
        }
    }
}
