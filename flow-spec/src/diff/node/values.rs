//! The params of a node, and its settings.

use serde_json::{Map, Value};

use crate::diff::change::{Change, Effect, Part};
use crate::diff::matching::Renamed;
use crate::diff::passed;
use crate::diff::values::{differing, sentence};
use crate::document::problem::inside;
use crate::document::{NodeDocument, SettingsDocument, types};

use super::Pair;

impl Pair<'_> {
    pub(super) fn compare_values(&self, changes: &mut Vec<Change>) {
        let old = settings(&renamed_settings(self.old.1, self.new.1, self.renamed));
        let new = settings(&self.new.1.settings);
        for (name, kind) in differing(&old, &new) {
            let message = match name {
                "undo" => self.other_undo(),
                _ => format!("`{}`: {}", self.name, sentence("setting", name, &old, &new)),
            };
            let place = format!("/settings/{}", name.replace('.', "/"));
            let change = self.harmless(Part::Setting, kind, &place, message);
            changes.push(change.behind(self.passed_by_setting(name)));
        }
        let (old, new) = (&params(self.old.1, self.renamed), &self.new.1.params);
        for (name, kind) in differing(old, new) {
            let message = format!("`{}`: {}", self.name, sentence("param", name, old, new));
            let effect = if self.is_other_work(name) {
                Effect::Breaking
            } else {
                Effect::Compatible
            };
            let place = inside("/params", name);
            let change = self.change(effect, Part::Param, kind, &place, message);
            changes.push(change.behind(self.passed_by_param(name)));
        }
    }

    /// The nodes that an execution has passed if a changed setting makes its journal useless.
    fn passed_by_setting(&self, name: &str) -> Vec<String> {
        let (old, new) = (&self.old.1.settings, &self.new.1.settings);
        let is_loop = self.old.1.r#type == types::EACH;
        let itself = || vec![self.context.node(&self.old.1.id)];
        match name {
            // Items or branches that had begun would now begin later.
            "concurrency" if self.begin_later() => itself(),
            // The items ran in parts.
            "spread" if is_loop && old.spread.is_some() && new.spread.is_none() => itself(),
            "collectErrors" if is_loop => itself(),
            // What its undo node reads is kept when a visit is done.
            "undo" => itself(),
            _ => Vec::new(),
        }
    }

    /// Another undo node, in words.
    fn other_undo(&self) -> String {
        let (old, new) = (&self.old.1.settings.undo, &self.new.1.settings.undo);
        let name = &self.name;
        match (old, new) {
            (Some(old), Some(new)) => format!(
                "`{name}` is taken back by `{new}`, and was by `{old}`: earlier visits kept what that one reads"
            ),
            (_, Some(new)) => format!(
                "`{name}` is taken back by `{new}` now: earlier visits did not keep what it reads"
            ),
            (_, None) => {
                format!("`{name}` has no undo node any more: earlier visits are not taken back")
            }
        }
    }

    /// Returns `true` if fewer items or branches run at once than before. Without a number, items
    /// run one after the other, and all branches at once.
    fn begin_later(&self) -> bool {
        let at_once = |node: &NodeDocument| match node.r#type.as_str() {
            types::EACH => node.settings.concurrency.unwrap_or(1),
            _ => node.settings.concurrency.unwrap_or(u64::MAX),
        };
        at_once(self.new.1) < at_once(self.old.1)
    }

    /// The nodes that an execution has passed if a node of the language changes. A branch decides
    /// again. A fork waits for outcomes not recorded, and reaches recorded ones in another order.
    fn passed_by_param(&self, name: &str) -> Vec<String> {
        let (old, new) = (self.old.1, self.new.1);
        let ids = |node: &NodeDocument| node.params.get(name).map(Value::to_string);
        let decides = old.r#type == types::BRANCH && new.r#type == types::BRANCH;
        let races = new.r#type == types::FIRST && name == "branches" && ids(old) != ids(new);
        if races {
            // A branch that was not there could win, or one that has won could be gone.
            let inside = old.branches().into_iter().flatten();
            let itself = [old.id.as_str()].into_iter();
            return itself
                .chain(inside)
                .map(|id| self.context.node(id))
                .collect();
        }
        let forks = new.r#type == types::FORK && name == "branches" && ids(old) != ids(new);
        if !decides && !forks {
            return Vec::new();
        }
        let mut passed = passed::behind(self.flow, &old.id, self.context);
        let renamed = |id| self.renamed.get(id).copied().unwrap_or(id);
        for (before, after) in old.branches().into_iter().zip(new.branches()) {
            let kept = before.iter().zip(&after);
            let kept = kept.take_while(|(before, after)| renamed(**before) == **after);
            if let Some(other) = before.get(kept.count()) {
                passed.extend(passed::from(self.flow, other, self.context));
            }
        }
        passed.sort_unstable();
        passed.dedup();
        passed
    }

    /// Returns `true` if the stored results of a loop would belong to other items or to another
    /// node, or if a stored message would be another signal. The results are stored by the index of
    /// the item, and messages by the name of the signal.
    fn is_other_work(&self, param: &str) -> bool {
        match self.new.1.r#type.as_str() {
            types::EACH => ["over", "body"].contains(&param),
            types::SIGNAL => self.old.1.r#type == types::SIGNAL && self.is_other_signal(),
            _ => false,
        }
    }

    /// Returns `true` if a signal has another name, or if it was any JSON before and now has a
    /// type, or the reverse.
    fn is_other_signal(&self) -> bool {
        let (old, new) = (self.old.1, self.new.1);
        let is_typed = |node: &NodeDocument| node.params.contains_key("expects");
        old.signal() != new.signal() || is_typed(old) != is_typed(new)
    }
}

/// The settings of a node, with the new name of its undo node. What a renamed node says of its former
/// name is not another change.
pub(super) fn renamed_settings(
    node: &NodeDocument,
    new: &NodeDocument,
    renamed: &Renamed<'_>,
) -> SettingsDocument {
    let mut settings = node.settings.clone();
    if new.settings.was.as_ref() == Some(&node.id) {
        settings.was.clone_from(&new.settings.was);
    }
    if let Some(undo) = &mut settings.undo
        && let Some(new) = renamed.get(undo.as_str())
    {
        *undo = (*new).to_owned();
    }
    settings
}

/// The params of a node, with the new names of the nodes in them.
pub(in crate::diff) fn params(node: &NodeDocument, renamed: &Renamed<'_>) -> Map<String, Value> {
    let mut params = node.params.clone();
    let of_ids = match node.r#type.as_str() {
        types::FORK | types::FIRST => params.get_mut("branches"),
        types::EACH => params.get_mut("body"),
        _ => None,
    };
    if let Some(ids) = of_ids {
        rename(ids, renamed);
    }
    params
}

fn rename(ids: &mut Value, renamed: &Renamed<'_>) {
    match ids {
        Value::String(id) => {
            if let Some(new) = renamed.get(id.as_str()) {
                *id = (*new).to_owned();
            }
        }
        Value::Array(ids) => ids.iter_mut().for_each(|id| rename(id, renamed)),
        // A branch of a race. Its action is no id.
        Value::Object(branch) => {
            if let Some(steps) = branch.get_mut("steps") {
                rename(steps, renamed);
            }
        }
        _ => {}
    }
}

/// Settings by their names. Those of a group have names like `retry.attempts`.
fn settings(of_node: &SettingsDocument) -> Map<String, Value> {
    let mut settings = Map::new();
    let Ok(Value::Object(groups)) = serde_json::to_value(of_node) else {
        return settings;
    };
    for (name, value) in groups {
        match value {
            Value::Object(group) => {
                let group = group.into_iter();
                settings
                    .extend(group.map(|(of_group, value)| (format!("{name}.{of_group}"), value)));
            }
            value => {
                settings.insert(name, value);
            }
        }
    }
    settings
}
