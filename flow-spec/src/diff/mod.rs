//! Compares two versions of a flow: what changed, and whom it breaks.
//!
//! The hard thing is to report each change once, where its author made it: a renamed node is not
//! one that was removed and one that was added, and the edges that refer to it have not changed.
//! And nothing may be missed: whatever makes two documents differ is at least one change.

mod change;
mod context;
mod matching;
mod node;
mod nodes;
mod passed;
mod routes;
mod signature;
mod types;
mod values;

pub use change::{Change, Diff, Effect, Kind, Part};

use crate::document::FlowDocument;
use context::Context;

/// The changes from `old` to `new`. `docs/flow-json.md` has the rules by which changes are judged.
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
