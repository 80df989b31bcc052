//! The values that a node reads and writes.

use crate::diff::change::{Change, Effect, Kind, Part};
use crate::diff::matching::{Match, match_names};
use crate::diff::signature::{names_of, retyped};
use crate::diff::types::{self, Types};
use crate::document::problem::inside;
use crate::document::{NodeDocument, Schema, types as document_types};
use crate::graph::{DEFAULT_ACTION, TIMEOUT_ACTION};

use super::Pair;
use super::actions::{Written, action_names, written};

impl Pair<'_> {
    pub(super) fn compare_writes(&self, changes: &mut Vec<Change>) {
        let (old, new) = (&self.old.1.outputs, &self.new.1.outputs);
        let name = &self.name;
        for found in match_names(&names_of(old), &names_of(new), same_types(old, new)) {
            let (write, kind, effect, message) = match found {
                Match::Kept(write) => {
                    self.compare_kept_write(write, changes);
                    continue;
                }
                Match::Renamed { old, new } => {
                    let message = format!("`{name}` writes `{new}` instead of `{old}`");
                    let effect = if self.keeps_outcomes() {
                        Effect::Compatible
                    } else {
                        Effect::Breaking
                    };
                    (new, Kind::Renamed, effect, message)
                }
                Match::Added(write) => {
                    let message = format!("`{name}` also writes `{write}`");
                    let effect = self.effect_on_stored(self.new.1, write);
                    (write, Kind::Added, effect, message)
                }
                Match::Removed(write) => {
                    let message = format!("`{name}` no longer writes `{write}`");
                    let effect = self.effect_on_stored(self.old.1, write);
                    (write, Kind::Removed, effect, message)
                }
            };
            let place = property("/outputs", write);
            changes.push(self.sent(self.change(effect, Part::Write, kind, &place, message)));
        }
    }

    /// Returns `true` if a stored outcome has the same values in the same order, and without their names,
    /// and if they have the same keys in the flow. Then it does not matter how the function names them.
    fn keeps_outcomes(&self) -> bool {
        let (old, new) = (self.old.1, self.new.1);
        if !is_nameless(old) || !is_nameless(new) {
            return false;
        }
        let is_body = self
            .flow
            .nodes
            .iter()
            .any(|node| node.body() == Some(&old.id));
        let key = |node: &NodeDocument, write: &str| {
            let key = node
                .mappings
                .outputs
                .get(write)
                .and_then(|key| key.as_str());
            key.unwrap_or(write).to_owned()
        };
        let (before, after) = (&old.outputs, &new.outputs);
        let pairs = names_of(before).into_iter().zip(names_of(after));
        before.properties.len() == after.properties.len()
            && pairs.into_iter().all(|(was, is)| {
                let types = types::compare(&before.properties[was], &after.properties[is]);
                !matches!(types, Types::Other(_))
                    && before.adds(was) == after.adds(is)
                    && before.requires(was) == after.requires(is)
                    && (is_body || key(old, was) == key(new, is))
            })
    }

    fn compare_kept_write(&self, write: &str, changes: &mut Vec<Change>) {
        let (old, new) = (&self.old.1.outputs, &self.new.1.outputs);
        let (name, place) = (&self.name, property("/outputs", write));
        match types::compare(&old.properties[write], &new.properties[write]) {
            Types::Same => {}
            Types::Described if old.adds(write) != new.adds(write) => {}
            Types::Described => {
                let message = format!("what `{name}` writes as `{write}` is described otherwise");
                let change = self.harmless(Part::Write, Kind::Changed, &place, message);
                changes.push(self.sent(change));
            }
            Types::Other(types) => {
                let message = format!("`{name}` writes: {}", retyped(write, types));
                let change = self.breaking(Part::Write, Kind::Retyped, &place, message);
                changes.push(self.sent(change));
            }
        }
        if old.adds(write) != new.adds(write) {
            let what = if new.adds(write) {
                "adds to its key, and replaced it"
            } else {
                "replaces its key, and added to it"
            };
            let message = format!("what `{name}` writes as `{write}` {what}");
            changes.push(self.breaking(Part::Write, Kind::Changed, &place, message));
        }
        // If there are actions, their writes decide what is required.
        let says_actions = self.old.1.actions.is_some() && self.new.1.actions.is_some();
        if says_actions || old.requires(write) == new.requires(write) {
            return;
        }
        let (what, effect) = if new.requires(write) {
            ("always writes", Effect::Breaking)
        } else {
            ("may write", Effect::Compatible)
        };
        let message = format!("`{name}` {what} `{write}` now");
        let change = self.change(effect, Part::Write, Kind::Changed, &place, message);
        changes.push(self.sent(change));
    }

    /// The effect of an added or removed write on executions. They are not affected if no action
    /// that they may have taken always writes it.
    fn effect_on_stored(&self, node: &NodeDocument, write: &str) -> Effect {
        let has_it = match (&self.old.1.actions, &self.new.1.actions) {
            (Some(old), Some(new)) => {
                let stayed = |name: &&str| action_names(new).contains(name);
                let mut stayed = action_names(old).into_iter().filter(stayed);
                stayed.any(|action| written(node, action, write) == Written::Always)
            }
            _ => node.outputs.requires(write),
        };
        if has_it {
            Effect::Breaking
        } else {
            Effect::Compatible
        }
    }

    /// Compares the values that it reads, which are looked up when it runs.
    pub(super) fn compare_reads(&self, changes: &mut Vec<Change>) {
        let (old, new) = (&self.old.1.inputs, &self.new.1.inputs);
        let name = &self.name;
        for found in match_names(&names_of(old), &names_of(new), same_types(old, new)) {
            let (read, kind, message) = match found {
                Match::Kept(read) => match kept_read(read, old, new) {
                    Some((kind, what)) => (read, kind, format!("`{name}` reads: {what}")),
                    None => continue,
                },
                Match::Renamed { old, new } => {
                    let message = format!("`{name}` reads `{new}` instead of `{old}`");
                    (new, Kind::Renamed, message)
                }
                Match::Added(read) => (read, Kind::Added, format!("`{name}` also reads `{read}`")),
                Match::Removed(read) => {
                    let message = format!("`{name}` no longer reads `{read}`");
                    (read, Kind::Removed, message)
                }
            };
            let is_described = kind == Kind::Changed && message.ends_with("is described otherwise");
            let kept_for = if is_described {
                Vec::new()
            } else {
                self.taken_back()
            };
            let change = self.harmless(Part::Read, kind, &property("/inputs", read), message);
            changes.push(change.behind(kept_for));
        }
    }
}

/// Returns `true` if the stored outcome of a node is what it returned, without names and actions.
fn is_nameless(node: &NodeDocument) -> bool {
    let mut actions = node.actions.iter().flatten();
    !node.is_flow()
        && !document_types::ALL.contains(&node.r#type.as_str())
        && actions.all(|action| [DEFAULT_ACTION, TIMEOUT_ACTION].contains(&action.name.as_str()))
}

fn property(side: &str, name: &str) -> String {
    inside(&inside(side, "properties"), name)
}

/// Returns `true` if one value can have become another.
fn same_types(old: &Schema, new: &Schema) -> impl Fn(&str, &str) -> bool {
    |before: &str, after: &str| {
        let types = types::compare(&old.properties[before], &new.properties[after]);
        !matches!(types, Types::Other(_))
    }
}

fn kept_read(name: &str, old: &Schema, new: &Schema) -> Option<(Kind, String)> {
    match types::compare(&old.properties[name], &new.properties[name]) {
        Types::Other(types) => return Some((Kind::Retyped, retyped(name, types))),
        Types::Described => {
            return Some((Kind::Changed, format!("`{name}` is described otherwise")));
        }
        Types::Same => {}
    }
    match (old.requires(name), new.requires(name)) {
        (true, false) => Some((Kind::Changed, format!("`{name}` may be missing now"))),
        (false, true) => Some((Kind::Changed, format!("`{name}` has to be there now"))),
        _ => None,
    }
}
