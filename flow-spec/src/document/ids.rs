//! Normalizes the ids of nodes and the names of actions and signals.
//!
//! Unicode can write one letter in several ways: `é` is one character or two. People see no
//! difference, so names are compared in the composed form (NFC), which rustc uses for the names of
//! Rust. A document is converted when it is read, so that no other code has to.

use std::borrow::Cow;

use serde_json::Value;

use super::{FlowDocument, NodeDocument, types};
use crate::names::composed;

fn compose(id: &mut String) {
    if let Cow::Owned(composed) = composed(id) {
        *id = composed;
    }
}

impl NodeDocument {
    /// Converts its id, its former one, those of its undo node and of the nodes inside it, its actions and the name of its signal to the
    /// composed form.
    pub(super) fn compose_ids(&mut self) {
        compose(&mut self.id);
        self.settings.undo.iter_mut().for_each(compose);
        self.settings.was.iter_mut().for_each(compose);
        for action in self.actions.iter_mut().flatten() {
            compose(&mut action.name);
        }
        if self.r#type == types::BRANCH {
            let cases = self.params.get_mut("cases").and_then(Value::as_array_mut);
            let cases = cases.into_iter().flatten();
            cases
                .filter_map(|case| case.get_mut("action"))
                .for_each(|action| compose_value(action, 0));
            if let Some(action) = self.params.get_mut("otherwise") {
                compose_value(action, 0);
            }
        }
        if self.r#type == types::FIRST {
            let branches = self
                .params
                .get_mut("branches")
                .and_then(Value::as_array_mut);
            for branch in branches.into_iter().flatten() {
                if let Some(steps) = branch.get_mut("steps") {
                    compose_value(steps, 1);
                }
                if let Some(action) = branch.get_mut("action") {
                    compose_value(action, 0);
                }
            }
        }
        if self.r#type == types::SIGNAL {
            for field in ["expects", "name"] {
                if let Some(name) = self.params.get_mut(field) {
                    compose_value(name, 0);
                }
            }
        }
        let (field, depth) = match self.r#type.as_str() {
            types::FORK => ("branches", 2),
            types::EACH => ("body", 0),
            _ => return,
        };
        if let Some(ids) = self.params.get_mut(field) {
            compose_value(ids, depth);
        }
    }
}

/// Composes the names in lists of this depth.
fn compose_value(ids: &mut Value, depth: usize) {
    match ids {
        Value::String(id) if depth == 0 => compose(id),
        Value::Array(items) if depth > 0 => {
            let items = items.iter_mut();
            items.for_each(|item| compose_value(item, depth - 1));
        }
        _ => {}
    }
}

impl FlowDocument {
    /// Converts the ids by which it refers to its nodes, and the actions of its edges, to the
    /// composed form.
    pub(super) fn compose_references(&mut self) {
        self.entry_node_id.iter_mut().for_each(compose);
        for edge in &mut self.edges {
            compose(&mut edge.from);
            compose(&mut edge.to);
            compose(&mut edge.condition);
        }
        for end in &mut self.ends {
            end.from.iter_mut().for_each(compose);
            end.condition.iter_mut().for_each(compose);
            compose(&mut end.label);
        }
    }

    /// Converts all ids of nodes and names of actions and signals to the composed form of Unicode
    /// (NFC), in which they are compared. Reading a document does this too; a document that a program has put
    /// together may need it.
    ///
    /// # Examples
    ///
    /// ```
    /// use flow_spec::{FlowDocument, NodeDocument};
    ///
    /// let mut flow = FlowDocument::new("Menu", "menu");
    /// flow.nodes = vec![NodeDocument { id: "cafe\u{301}".to_owned(), ..NodeDocument::default() }];
    /// flow.compose_ids();
    /// assert_eq!(flow.nodes[0].id, "caf\u{e9}");
    /// ```
    pub fn compose_ids(&mut self) {
        self.compose_references();
        for node in &mut self.nodes {
            node.compose_ids();
            if let Some(inner) = &mut node.internal_flow {
                inner.compose_ids();
            }
        }
    }
}
