//! The current place in the two documents.

use crate::document::problem::inside;
use crate::document::{FlowDocument, NodeDocument};

use super::change::{Change, Effect, Kind, Part};
use super::passed;

/// Compares two versions of a flow, and adds the changes.
pub(super) type Compare = fn(&FlowDocument, &FlowDocument, &Context, &mut Vec<Change>);

/// The place, in both documents, of a flow that is compared.
pub(super) struct Context {
    /// Compares the inner flows as well.
    compare: Compare,
    /// The path of the node that is this flow, in the new version.
    path: Vec<String>,
    old: String,
    new: String,
    /// The paths of the first nodes after the flow that leave an outcome in the journal. Empty for
    /// the outermost flow.
    pub(super) behind: Vec<String>,
    /// True if a change of its inputs or outputs is already reported at its node.
    pub(super) is_said: bool,
}

impl Context {
    pub(super) fn outermost(compare: Compare) -> Self {
        Context {
            compare,
            path: Vec::new(),
            old: String::new(),
            new: String::new(),
            behind: Vec::new(),
            is_said: false,
        }
    }

    /// Compares the flow of a node of `flow`, which is this flow in the old version.
    pub(super) fn compare_nested(
        &self,
        flow: &FlowDocument,
        (at, old): (usize, &NodeDocument),
        (now_at, new): (usize, &NodeDocument),
        (before, after): (&FlowDocument, &FlowDocument),
        changes: &mut Vec<Change>,
    ) {
        let behind = passed::behind(flow, &old.id, self);
        let context = self.nested((at, old), (now_at, new), behind);
        (self.compare)(before, after, &context, changes);
    }

    fn nested(
        &self,
        old: (usize, &NodeDocument),
        new: (usize, &NodeDocument),
        behind: Vec<String>,
    ) -> Self {
        let mut path = self.path.clone();
        path.push(new.1.id.clone());
        let place = |around: &str, index: usize| {
            let node = inside(&inside(around, "nodes"), index);
            inside(&node, "internalFlow")
        };
        Context {
            compare: self.compare,
            path,
            old: place(&self.old, old.0),
            new: place(&self.new, new.0),
            behind,
            is_said: old.1.inputs != new.1.inputs
                || old.1.outputs != new.1.outputs
                || old.1.actions != new.1.actions,
        }
    }

    /// Returns `true` if callers see this flow.
    pub(super) fn is_outermost(&self) -> bool {
        self.path.is_empty()
    }

    /// The name of the flow in messages.
    pub(super) fn flow(&self) -> String {
        if self.is_outermost() {
            "the flow".to_owned()
        } else {
            format!("`{}`", self.path.join("."))
        }
    }

    /// The prefix of a message about this flow. Empty for the outermost flow.
    pub(super) fn of_flow(&self) -> String {
        if self.is_outermost() {
            String::new()
        } else {
            format!("{}: ", self.flow())
        }
    }

    /// The path of a node.
    pub(super) fn node(&self, id: &str) -> String {
        let around = self.path.iter().map(String::as_str);
        around.chain([id]).collect::<Vec<_>>().join(".")
    }

    /// The effect on callers, which only see the outermost flow.
    pub(super) fn to_callers(&self, effect: Effect) -> Effect {
        if self.is_outermost() {
            effect
        } else {
            Effect::None
        }
    }

    /// A change of the flow itself, at this place inside it. For executions, an inner flow is a
    /// part of their path.
    pub(super) fn change(&self, part: Part, kind: Kind, place: &str, message: String) -> Change {
        let around = match kind {
            Kind::Removed => &self.old,
            _ => &self.new,
        };
        Change {
            path: self.path.join("."),
            old_path: None,
            pointer: format!("{around}{place}"),
            part,
            kind,
            message,
            callers: Effect::None,
            passed: Vec::new(),
            executions: if self.is_outermost() {
                Effect::None
            } else {
                Effect::Compatible
            },
        }
    }

    /// A change of a node, which only affects executions.
    pub(super) fn node_change(
        &self,
        part: Part,
        kind: Kind,
        (index, node): (usize, &NodeDocument),
        place: &str,
        message: String,
    ) -> Change {
        let place = format!("{}{place}", inside("/nodes", index));
        let mut change = self.change(part, kind, &place, message);
        change.path = self.node(&node.id);
        change
    }
}
