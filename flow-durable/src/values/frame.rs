//! One running flow.

use std::collections::{BTreeMap, BTreeSet};

use flow_spec::FlowDocument;
use serde_json::{Map, Value};

use super::added::Added;

/// Values by key. `None` for a value that the journal does not show.
pub(super) type Known = BTreeMap<String, Option<Value>>;

/// The values of one running flow.
#[derive(Default)]
pub(crate) struct FlowValues {
    pub(crate) values: Map<String, Value>,
    /// The keys that were written with values that the journal does not show.
    pub(crate) unknown: Vec<String>,
}

/// A branch of a running fork or race.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Branch {
    /// The step of the fork or race.
    pub(super) fork: String,
    /// The number of the branch.
    pub(super) number: usize,
}

/// A running flow.
#[derive(Debug, Clone)]
pub(super) struct Frame {
    pub(super) path: String,
    pub(super) base: Known,
    /// The values that the branches of running forks and races have written.
    branches: BTreeMap<Branch, OfBranch>,
    /// The branches that are done.
    done: BTreeSet<Branch>,
}

/// The branches whose values are kept when a fork or a race is over.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kept {
    All,
    /// The one that was done first. The others are dropped at that moment.
    First,
    Nothing,
}

/// The values of a branch.
#[derive(Debug, Clone, Default)]
struct OfBranch {
    /// The values that it has written, or to which it has added.
    values: Known,
    /// The values to add to others when all branches are done.
    added: Vec<Added>,
}

impl Frame {
    pub(super) fn new(path: String, base: Known) -> Self {
        Frame {
            path,
            base,
            branches: BTreeMap::new(),
            done: BTreeSet::new(),
        }
    }

    /// Follows the way from the start to the first node, or to the end.
    pub(super) fn enter(&mut self, flow: &FlowDocument) {
        let end = || flow.ends.iter().find(|end| end.from.is_none());
        match (&flow.entry_node_id, end()) {
            (None, Some(end)) => self.copy(&end.mappings),
            _ => self.copy(&flow.entry_mappings),
        }
    }

    /// Follows the edge of an action.
    pub(super) fn take(&mut self, flow: &FlowDocument, node: &str, action: &str) {
        let mut edges = flow.edges.iter();
        let edge = edges.find(|edge| edge.from == node && edge.condition == action);
        if let Some(edge) = edge {
            return self.copy(&edge.mappings);
        }
        let mut ends = flow.ends.iter();
        let end = ends.find(|end| {
            end.from.as_deref() == Some(node) && end.condition.as_deref() == Some(action)
        });
        if let Some(end) = end {
            self.copy(&end.mappings);
        }
    }

    fn copy(&mut self, mappings: &Map<String, Value>) {
        let copied = mappings.iter().filter_map(|(from, to)| {
            let value = self.base.get(from)?.clone();
            Some((to.as_str()?.to_owned(), value))
        });
        let copied: Vec<_> = copied.collect();
        self.base.extend(copied);
    }

    /// The value of a key for a node in this branch, if the key has one.
    pub(super) fn get(&self, branch: Option<&Branch>, key: &str) -> Option<&Option<Value>> {
        let own = branch.and_then(|branch| self.branches.get(branch)?.values.get(key));
        own.or_else(|| self.base.get(key))
    }

    /// Writes a value of a node in this branch.
    pub(super) fn write(&mut self, branch: Option<&Branch>, key: String, value: Option<Value>) {
        match branch {
            Some(branch) => {
                let own = self.branches.entry(branch.clone()).or_default();
                own.added.retain(|added| added.key != key);
                own.values.insert(key, value);
            }
            None => drop(self.base.insert(key, value)),
        }
    }

    /// Adds a value of a node in this branch.
    pub(super) fn add(&mut self, branch: Option<&Branch>, added: Added) {
        let value = added.to(self.get(branch, &added.key));
        match branch {
            Some(branch) => {
                let own = self.branches.entry(branch.clone()).or_default();
                let is_own = own.values.contains_key(&added.key)
                    && own.added.iter().all(|other| other.key != added.key);
                own.values.insert(added.key.clone(), value);
                if !is_own {
                    own.added.push(added);
                }
            }
            None => drop(self.base.insert(added.key, value)),
        }
    }

    /// Notes that the last node of a branch is done.
    pub(super) fn done(&mut self, branch: &Branch) {
        self.done.insert(branch.clone());
    }

    /// Ends a fork or a race: keeps or discards the values that its branches wrote.
    pub(super) fn join(&mut self, fork: &str, kept: Kept) {
        let (ended, others): (BTreeMap<Branch, OfBranch>, _) = std::mem::take(&mut self.branches)
            .into_iter()
            .partition(|(branch, _)| branch.fork == fork);
        self.branches = others;
        for (branch, OfBranch { mut values, added }) in ended {
            let is_kept = match kept {
                Kept::All => true,
                Kept::First => self.done.contains(&branch),
                Kept::Nothing => false,
            };
            if !is_kept {
                continue;
            }
            for added in &added {
                values.remove(&added.key);
            }
            self.base.extend(values);
            for added in added {
                self.add(None, added);
            }
        }
        self.done.retain(|branch| branch.fork != fork);
    }

    pub(super) fn into_values(self) -> (String, FlowValues) {
        let mut values = FlowValues::default();
        for (key, value) in self.base {
            match value {
                Some(value) => drop(values.values.insert(key, value)),
                None => values.unknown.push(key),
            }
        }
        (self.path, values)
    }
}
