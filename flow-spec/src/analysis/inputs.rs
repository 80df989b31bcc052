//! Checks that the inputs are used.

use super::found::Found;
use super::keys::Key;
use super::model::Model;
use super::suggestions::Suggestions;
use crate::diagnostic::{Code, Diagnostic, Site};

/// Reports the inputs that no node reads and that are not outputs.
pub(super) fn check(model: &Model<'_>, suggestions: &Suggestions<'_>, found: &mut Found) {
    // Its mapping may have been meant to read it.
    let swaps = model.routes.edges.iter().any(|route| route.maps_unread);
    for (at, input) in model.graph.inputs.iter().enumerate() {
        let is_used = |key: &Key<'_>| {
            let may_be_swapped = swaps && !key.mapped_at.is_empty();
            key.output || key.is_read() || may_be_swapped || key.input != Some(at)
        };
        if model.keys.get(&input.key).is_none_or(is_used) || suggestions.is_meant(&input.key) {
            continue;
        }
        let message = format!("nothing reads the input `{}`", input.key);
        found.push(
            Diagnostic::new(Code::UnusedInput, Site::Input(at), message)
                .help("remove it, or let a node read it"),
        );
    }
}
