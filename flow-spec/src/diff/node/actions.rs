//! The actions of a node, and the values that it writes on them.

use crate::diff::change::{Change, Effect, Kind, Part};
use crate::diff::matching::{Match, match_names};
use crate::document::problem::inside;
use crate::document::{ActionDocument, NodeDocument};
use crate::graph::{Action, TIMEOUT_ACTION};

use super::Pair;

impl Pair<'_> {
    /// Compares its actions. Does nothing if a document does not list any.
    pub(super) fn compare_actions(&self, changes: &mut Vec<Change>) {
        let name = &self.name;
        let (Some(old), Some(new)) = (&self.old.1.actions, &self.new.1.actions) else {
            if self.old.1.actions != self.new.1.actions {
                let message = match &self.new.1.actions {
                    Some(_) => format!("`{name}` says its actions now"),
                    None => format!("`{name}` no longer says its actions"),
                };
                changes.push(self.harmless(Part::Action, Kind::Changed, "/actions", message));
            }
            return self.compare_failure(changes);
        };
        let place = |actions: &[ActionDocument], name: &str| {
            let index = actions.iter().position(|action| action.name == name);
            inside("/actions", index.unwrap_or_default())
        };
        for found in match_names(&action_names(old), &action_names(new), |_, _| false) {
            match found {
                Match::Kept(action) | Match::Renamed { new: action, .. } => {
                    self.compare_written(action, &place(new, action), changes);
                }
                Match::Added(action) => {
                    let message = format!("`{name}` can also take \"{action}\"");
                    let place = place(new, action);
                    let change = self.harmless(Part::Action, Kind::Added, &place, message);
                    changes.push(self.chosen(action, change));
                }
                Match::Removed(action) => {
                    let message = format!("`{name}` no longer takes \"{action}\"");
                    let place = place(old, action);
                    let change = self.breaking(Part::Action, Kind::Removed, &place, message);
                    changes.push(self.chosen(action, change));
                }
            }
        }
        self.compare_failure(changes);
    }

    /// The change of an action, which whoever sends a signal chooses, unless none comes in time.
    fn chosen(&self, action: &str, change: Change) -> Change {
        if action == TIMEOUT_ACTION {
            change
        } else {
            self.sent(change)
        }
    }

    fn compare_failure(&self, changes: &mut Vec<Change>) {
        let name = &self.name;
        match (self.old.1.fallible, self.new.1.fallible) {
            // The failure in an execution now takes this action.
            (true, false) if !takes_timeout(self.old.1) && takes_timeout(self.new.1) => {}
            (true, false) => {
                let message = format!("`{name}` can no longer fail");
                changes.push(self.breaking(Part::Action, Kind::Removed, "/fallible", message));
            }
            (false, true) => {
                let message = format!("`{name}` can fail now");
                changes.push(self.harmless(Part::Action, Kind::Added, "/fallible", message));
            }
            _ => {}
        }
    }

    /// Compares the writes on a kept action, for writes that were kept.
    fn compare_written(&self, action: &str, place: &str, changes: &mut Vec<Change>) {
        let (old, new) = (self.old.1, self.new.1);
        for write in new.outputs.properties.keys() {
            if !old.outputs.properties.contains_key(write) {
                continue;
            }
            let (before, after) = (written(old, action, write), written(new, action, write));
            let what = match (before, after) {
                _ if before == after => continue,
                (_, Written::Never) => "no longer writes",
                (_, Written::Perhaps) => "may write",
                (_, Written::Always) => "always writes",
            };
            let message = format!("`{}` {what} `{write}` on \"{action}\"", self.name);
            let effect = match after {
                Written::Perhaps => Effect::Compatible,
                Written::Always | Written::Never => Effect::Breaking,
            };
            let change = self.change(effect, Part::Write, Kind::Changed, place, message);
            changes.push(self.sent(change));
        }
    }
}

/// The certainty with which a value is written on an action.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::diff) enum Written {
    Never,
    Perhaps,
    Always,
}

impl Written {
    /// The certainty with which an end of a flow writes an output.
    pub(in crate::diff) fn by(end: &Action, output: &str) -> Self {
        match end.writes.iter().find(|write| write.key == output) {
            None => Written::Never,
            Some(write) if write.optional => Written::Perhaps,
            Some(_) => Written::Always,
        }
    }
}

pub(super) fn written(node: &NodeDocument, action: &str, write: &str) -> Written {
    let action = node.actions.iter().flatten().find(|one| one.name == action);
    let is_in = |names: &[String]| names.iter().any(|name| name == write);
    match action {
        Some(action) if is_in(&action.writes) => Written::Always,
        Some(action) if is_in(&action.may_write) => Written::Perhaps,
        _ => Written::Never,
    }
}

fn takes_timeout(node: &NodeDocument) -> bool {
    let mut actions = node.actions.iter().flatten();
    actions.any(|action| action.name == TIMEOUT_ACTION)
}

pub(super) fn action_names(actions: &[ActionDocument]) -> Vec<&str> {
    actions.iter().map(|action| action.name.as_str()).collect()
}
