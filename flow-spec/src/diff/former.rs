//! A flow under the names with which an earlier version of it stored its steps.
//!
//! An execution keeps the names with which it began, so that all of its steps, also those that were
//! begun and not recorded, have one name for ever.

use std::collections::HashMap;

use crate::document::{FlowDocument, NodeDocument};

use super::matching::Renamed;
use super::node::params;

/// A flow under the names of an earlier version of it.
#[derive(Debug, Clone, PartialEq)]
pub struct FormerNames {
    /// The flow, in which the renamed nodes have their former ids again.
    pub flow: FlowDocument,
    /// The renamed nodes. Those of a flow come before those of the flows inside it.
    pub nodes: Vec<FormerName>,
}

/// A renamed node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormerName {
    /// The path of the flow of the node as executions name it, with former names and without the
    /// indices of items.
    pub flow: String,
    /// The id of the node.
    pub now: String,
    /// Its id in the earlier version, which it says by the setting `was`.
    pub was: String,
}

impl FlowDocument {
    /// Returns this flow under the names of an earlier version of it. `None` if no node says by the
    /// setting `was` that it had another id there.
    ///
    /// # Examples
    ///
    /// ```
    /// use flow_spec::FlowDocument;
    ///
    /// let flow = |id: &str, settings: &str| {
    ///     let text = format!(
    ///         r#"{{ "version": "2.0.0", "name": "Shop", "namespace": "shop", "nodes": [
    ///             {{ "type": "GetQuote", "id": "{id}", "actions": [{{ "name": "default" }}]{settings} }}
    ///         ], "entryNodeId": "{id}", "edges": [], "ends": [{{ "from": "{id}", "condition": "default", "label": "default" }}] }}"#
    ///     );
    ///     FlowDocument::parse(&text).unwrap()
    /// };
    /// let (old, new) = (flow("quote", ""), flow("price", r#", "settings": { "was": "quote" }"#));
    /// let former = new.under_names_of(&old).unwrap();
    /// assert_eq!(former.flow, old);
    /// assert_eq!((&*former.nodes[0].now, &*former.nodes[0].was), ("price", "quote"));
    /// assert_eq!(new.under_names_of(&new), None);
    /// ```
    pub fn under_names_of(&self, old: &FlowDocument) -> Option<FormerNames> {
        let mut names = FormerNames {
            flow: self.clone(),
            nodes: Vec::new(),
        };
        let path = self.namespace.clone();
        rename(&mut names.flow, old, &path, &mut names.nodes);
        (!names.nodes.is_empty()).then_some(names)
    }
}

impl NodeDocument {
    /// The node of an earlier version that this one says it was.
    pub(super) fn former_in<'a>(&self, old: &'a FlowDocument) -> Option<&'a NodeDocument> {
        old.node(self.settings.was.as_deref()?)
    }
}

/// Gives the nodes of a flow and of the flows inside it their former names.
fn rename(flow: &mut FlowDocument, old: &FlowDocument, path: &str, names: &mut Vec<FormerName>) {
    let by_id: HashMap<&str, &NodeDocument> = old.nodes.iter().map(|it| (&*it.id, it)).collect();
    let former = |node: &NodeDocument| {
        let was = node.settings.was.as_deref();
        was.and_then(|was| by_id.get(was).copied())
    };
    let mut renamed: HashMap<String, String> = HashMap::new();
    for node in &flow.nodes {
        if let Some(was) = former(node)
            && !flow.nodes.iter().any(|other| other.id == was.id)
        {
            renamed.insert(node.id.clone(), was.id.clone());
            names.push(FormerName {
                flow: path.to_owned(),
                now: node.id.clone(),
                was: was.id.clone(),
            });
        }
    }
    // The flow that a loop runs has the path of the loop.
    let mut loops: HashMap<String, (String, Option<&NodeDocument>)> = HashMap::new();
    for each in &flow.nodes {
        let was = former(each).or_else(|| by_id.get(&*each.id).copied());
        if let Some(body) = each.body() {
            let before = was.and_then(NodeDocument::body);
            let before = before.and_then(|body| by_id.get(body).copied());
            let name = renamed.get(&each.id).unwrap_or(&each.id);
            loops.insert(body.to_owned(), (name.clone(), before));
        }
    }
    for node in &mut flow.nodes {
        let itself = || {
            let was = former(node).or_else(|| by_id.get(&*node.id).copied());
            (renamed.get(&node.id).unwrap_or(&node.id).clone(), was)
        };
        let (name, before) = loops.get(&node.id).cloned().unwrap_or_else(itself);
        let before = before.and_then(|node| node.internal_flow.as_deref());
        if let (Some(inner), Some(before)) = (&mut node.internal_flow, before) {
            rename(inner, before, &format!("{path}.{name}"), names);
        }
    }
    if !renamed.is_empty() {
        rename_references(flow, &renamed);
    }
}

fn rename_references(flow: &mut FlowDocument, renamed: &HashMap<String, String>) {
    let refer = |id: &mut String| {
        if let Some(was) = renamed.get(id) {
            id.clone_from(was);
        }
    };
    let by_new: Renamed<'_> = renamed.iter().map(|(now, was)| (&**now, &**was)).collect();
    for node in &mut flow.nodes {
        if renamed.contains_key(&node.id) {
            node.settings.was = None;
        }
        node.params = params(node, &by_new);
        node.settings.undo.iter_mut().for_each(refer);
        refer(&mut node.id);
    }
    flow.entry_node_id.iter_mut().for_each(refer);
    for edge in &mut flow.edges {
        refer(&mut edge.from);
        refer(&mut edge.to);
    }
    for end in &mut flow.ends {
        end.from.iter_mut().for_each(refer);
    }
}
