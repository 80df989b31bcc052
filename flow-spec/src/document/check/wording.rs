//! The help of the analysis, in the words of the document.
//!
//! Its messages and paths are the same for all front ends. But its help is written in the language,
//! which an author of JSON does not use.

use crate::diagnostic::{Code, Diagnostic, Site};
use crate::graph::EdgePart;

/// Texts that occur only in help written in the language.
const SYNTAX: [&str; 10] = [
    "was = ", "undo = ", ">>", "->", "<-", "`node ", "#[node", "Option", "Result", "end(",
];

/// Returns the help for a problem.
pub(super) fn help(diagnostic: &Diagnostic) -> Option<String> {
    let said = diagnostic.help.as_deref()?;
    if !SYNTAX.iter().any(|mark| said.contains(mark)) {
        return Some(said.to_owned());
    }
    let meant = said.strip_prefix("did you mean ");
    if let Some((meant, _)) = meant.and_then(|meant| meant.split_once('?')) {
        return Some(format!(
            "did you mean {meant}? Rename it, or map it in the `mappings` of the node"
        ));
    }
    Some(advice(diagnostic).unwrap_or(said).to_owned())
}

fn advice(diagnostic: &Diagnostic) -> Option<&'static str> {
    let advice = match diagnostic.code {
        _ if matches!(diagnostic.site, Site::Was(_)) => {
            "write the id that the node had in the flow, or remove it"
        }
        Code::UnknownAction if asks_for_a_timeout(diagnostic) => {
            "give the node a `timeout` in its `settings`, and add this action to its `actions`; or remove this"
        }
        Code::UnknownAction => {
            "write an action that the node has as `condition`, or add this one to its `actions`"
        }
        Code::UnroutedAction => {
            "add it as `condition` to `edges`, or to `ends` if the flow ends there"
        }
        Code::DuplicateEdge => {
            "remove one of them, or lead to a `flow.fork` that has both as branches"
        }
        Code::Unreachable => "add an edge that leads to it, or remove it",
        Code::NoEnd => "add an entry to `ends` that leads out of it",
        Code::UnassignedRead if is_optional_input(diagnostic) => {
            "remove it from `required` in the `inputs` of the node, or add it to `required` in those of the flow"
        }
        Code::UnassignedRead if reads_error(diagnostic) => return None,
        Code::UnassignedRead if matches!(diagnostic.site, Site::Undo(_)) => {
            "write it before, remove it from `required` in the `inputs` of the undo node, or add it to those of the flow"
        }
        Code::UnassignedRead => {
            "write it before, remove it from `required` in the `inputs` of the node, or add it to those of the flow"
        }
        Code::WriterTypes => {
            "write one type, or map one of them to another key in the `mappings` of its node"
        }
        Code::ForkConflict => {
            "map one of them to another key in the `mappings` of its node, or put one node after the other"
        }
        Code::CannotFail => "set `fallible` of the node if it can fail, or remove this",
        Code::UnwrittenOutput => {
            "write it before, or remove it from `required` in the `outputs` of the flow"
        }
        Code::NamesNothing if names_key(diagnostic) => {
            "swap the two: the key that has the value comes first, and the key that is read is its value"
        }
        Code::NamesNothing => "let a node write it, or remove it",
        Code::Name => "give it another name",
        Code::Start => "name one node as `entryNodeId`, or write one end without `from`",
        Code::ForkShape => {
            "let it stand there once and without edges of its own; add a second node for a second place"
        }
        Code::Undo => undo(diagnostic)?,
        _ => return None,
    };
    Some(advice)
}

/// The help for a node that cannot be undone, or that cannot undo.
fn undo(diagnostic: &Diagnostic) -> Option<&'static str> {
    let message = diagnostic.message.as_str();
    let advice = if message.contains("cannot be a step") {
        "add a second node of its type for this place"
    } else if message.ends_with("is not kept") {
        "remove it from the `outputs` of that node, or map it to a key of its own in its `mappings`"
    } else if message.contains("cannot take back") {
        "name a node that is code"
    } else if message.contains("has nothing to") {
        "set `undo` in the `settings` of a node, or remove this"
    } else {
        return None;
    };
    Some(advice)
}

/// Returns `true` for the action of a question or a signal that waits without a limit.
fn asks_for_a_timeout(diagnostic: &Diagnostic) -> bool {
    let help = diagnostic.help.as_deref();
    help.is_some_and(|help| help.starts_with("give it a `timeout`"))
}

/// Returns `true` for a mapping of an edge that writes a key that nothing reads there.
fn names_key(diagnostic: &Diagnostic) -> bool {
    matches!(diagnostic.site, Site::Edge(_, EdgePart::Key(_)))
}

fn is_optional_input(diagnostic: &Diagnostic) -> bool {
    diagnostic
        .message
        .ends_with("which the caller may leave out")
}

/// Returns `true` for a message that already explains that `error` exists only where an `"error"`
/// edge leads.
fn reads_error(diagnostic: &Diagnostic) -> bool {
    diagnostic.message.contains(" reads `error`,")
}
