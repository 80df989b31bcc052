//! Compares two versions of a flow, and finds the changes and their effects.
//!
//! Each change is reported once, where its author made it. A renamed node is not one that was
//! removed and one that was added, and the edges that refer to it have not changed. Every
//! difference between two documents is at least one change.

mod change;
mod context;
mod former;
mod matching;
mod node;
mod nodes;
mod passed;
mod routes;
mod signals;
mod signature;
mod types;
mod values;

pub use change::{Change, Diff, Effect, Kind, Part};
pub use former::{FormerName, FormerNames};

use crate::document::FlowDocument;
use context::Context;

/// Returns the changes from `old` to `new`, judged by the rules in `docs/flow-json.md`.
///
/// # Examples
///
/// ```
/// use flow_spec::{FlowDocument, diff, property};
///
/// let old = FlowDocument::new("Qa", "qa");
/// let mut new = old.clone();
/// new.inputs.insert("hint", property("String", None), false);
/// let changes = diff(&old, &new);
/// assert!(!changes.is_breaking());
/// assert_eq!(changes.changes[0].message, "input `hint` was added, and may be left out");
///
/// new.inputs.insert("question", property("String", None), true);
/// assert!(diff(&old, &new).is_breaking());
/// ```
pub fn diff(old: &FlowDocument, new: &FlowDocument) -> Diff {
    let mut changes = Vec::new();
    compare(old, new, &Context::outermost(compare), &mut changes);
    signals::compare(old, new, &mut changes);
    Diff { changes }
}

fn compare(old: &FlowDocument, new: &FlowDocument, context: &Context, changes: &mut Vec<Change>) {
    if old == new {
        return;
    }
    let before = changes.len();
    signature::compare(old, new, context, changes);
    let renamed = nodes::compare(old, new, context, changes);
    routes::compare(old, new, &renamed, context, changes);
    if changes.len() == before {
        let message = format!("{} is written in another order", context.flow());
        let change = context.change(Part::Flow, Kind::Changed, "", message);
        changes.push(change.for_executions(Effect::Compatible));
    }
}
