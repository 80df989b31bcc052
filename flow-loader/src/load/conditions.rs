//! The types of the values that the conditions of branches read.

use flow_spec::document::types;
use flow_spec::{Code, FlowDocument, NodeDocument};

use crate::condition::Mistyped;

use super::Loader;
use super::branches::conditions;
use super::types::{Keys, key};
use super::uses::Uses;

impl Loader<'_> {
    /// Reports conditions that do not fit the known types, in a flow with other mistakes and in the
    /// flows in it.
    pub(super) fn check_conditions(&mut self, flow: &FlowDocument, pointer: &str) {
        for (index, node) in flow.nodes.iter().enumerate() {
            if let Some(inner) = &node.internal_flow {
                self.check_conditions(inner, &format!("{pointer}/nodes/{index}/internalFlow"));
            }
        }
        let Ok(graph) = flow.graph() else { return };
        let keys = self.keys_of_nodes(flow, &Uses::of(flow), pointer, &graph);
        for (index, node) in flow.nodes.iter().enumerate() {
            if node.r#type == types::BRANCH {
                self.check_conditions_of(node, &format!("{pointer}/nodes/{index}"), &keys);
            }
        }
    }

    /// Reports the conditions of a branch that do not fit the types of the values that they read.
    pub(super) fn check_conditions_of(&mut self, node: &NodeDocument, pointer: &str, keys: &Keys) {
        let properties = &node.inputs.properties;
        for (number, condition) in conditions(node) {
            // A condition that cannot be read is reported when the branch is completed.
            let Ok(condition) = self.conditions.read(condition) else {
                continue;
            };
            let read = condition.names().iter();
            let read = read.filter(|name| properties.contains_key(*name));
            let typed = read.map(|name| (&**name, keys.ty(key(&node.mappings.inputs, name))));
            let typed: Vec<_> = typed.collect();
            for Mistyped { message, help } in condition.mistyped(&typed) {
                let place = format!("{pointer}/params/cases/{number}/when");
                let message = format!("the condition does not fit: {message}");
                self.problem(Code::TypeMismatch, place, message, help);
            }
        }
    }
}
