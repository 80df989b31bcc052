//! The scripts of a test, and which of them belongs to a visit.

use std::any::{Any, TypeId, type_name};
use std::sync::Arc;

use crate::engine::{Failure, Step};
use crate::testing::visited::Visited;

/// The scripts, in the order in which they were written.
#[derive(Default, Clone)]
pub(super) struct Scripts {
    entries: Vec<Entry>,
    /// True if nodes without a script fail the test.
    pub(super) is_strict: bool,
}

/// A line of a test: a script, or a node that runs itself.
#[derive(Clone)]
struct Entry {
    of: Of,
    does: Does,
    /// The line as it was written, for messages.
    written: String,
    may_be_unused: bool,
}

/// The visits to which an entry belongs.
#[derive(Clone, PartialEq)]
pub(super) enum Of {
    /// Those to a node, wherever it is.
    Node(TypeId),
    /// Those to a node at this path.
    NodeAt(TypeId, String),
    /// Those to the race at this path.
    Race(String),
}

#[derive(Clone)]
pub(super) enum Does {
    /// A [`Script`] of the node.
    Script(Arc<dyn Any + Send + Sync>),
    /// The node itself runs.
    Itself,
    /// Returns which branch of the race is the first one.
    First(Arc<First>),
}

type First = dyn Fn(&Visited) -> &'static str + Send + Sync;

/// The script of the node `N`.
pub(super) struct Script<N: Step>(pub(super) Box<Run<N>>);

type Run<N> = dyn Fn(&Visited) -> Result<<N as Step>::Outcome, Failure> + Send + Sync;

impl<N: Step> Script<N> {
    pub(super) fn run(&self, visit: &Visited) -> Result<N::Outcome, Failure> {
        (self.0)(visit)
    }
}

/// The way to run a node.
pub(super) enum Found<'a> {
    Script(&'a Arc<dyn Any + Send + Sync>),
    /// The node itself runs, without a script.
    Itself,
    /// The node has no script but should have one.
    Missing,
}

/// The entries that a run has used, by their position.
#[derive(Debug, Default)]
pub(super) struct Used(Vec<usize>);

impl Scripts {
    /// Adds an entry. It replaces an earlier one for the same visits.
    pub(super) fn add(&mut self, of: Of, does: Does, written: String) {
        self.entries.retain(|entry| entry.of != of);
        self.entries.push(Entry {
            of,
            does,
            written,
            may_be_unused: false,
        });
    }

    pub(super) fn may_be_unused(&mut self) {
        for entry in &mut self.entries {
            entry.may_be_unused = true;
        }
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// What happens at a visit to the node `N`. A script for its path precedes one for its type.
    pub(super) fn find<N: Step + 'static>(&self, path: &str, used: &mut Used) -> Found<'_> {
        let node = TypeId::of::<N>();
        let does = self
            .use_at(path, |path| Of::NodeAt(node, path), used)
            .or_else(|| self.use_of(&Of::Node(node), used));
        match does {
            Some(Does::Script(script)) => Found::Script(script),
            Some(Does::Itself | Does::First(_)) => Found::Itself,
            None if self.is_strict => Found::Missing,
            None => Found::Itself,
        }
    }

    /// The branch that is the first one at a visit to a race. `None` if no script says so.
    pub(super) fn first(&self, visit: &Visited, used: &mut Used) -> Option<&'static str> {
        match self.use_at(visit.path(), Of::Race, used)? {
            Does::First(first) => Some(first(visit)),
            Does::Script(_) | Does::Itself => None,
        }
    }

    /// The entry for a path: that for the item, or else that for all items.
    fn use_at(&self, path: &str, of: impl Fn(String) -> Of, used: &mut Used) -> Option<&Does> {
        self.use_of(&of(path.to_owned()), used)
            .or_else(|| self.use_of(&of(without_items(path)), used))
    }

    fn use_of(&self, of: &Of, used: &mut Used) -> Option<&Does> {
        let at = self.entries.iter().position(|entry| entry.of == *of)?;
        if !used.0.contains(&at) {
            used.0.push(at);
        }
        Some(&self.entries[at].does)
    }

    /// The lines that a run has not used, and that have to be used.
    pub(super) fn unused(&self, used: &Used) -> Vec<&str> {
        let entries = self.entries.iter().enumerate();
        let unused = entries.filter(|(at, entry)| !entry.may_be_unused && !used.0.contains(at));
        unused.map(|(_, entry)| entry.written.as_str()).collect()
    }
}

/// A path without the indices of items: `report.parcels.pack` for `report.parcels[3].pack`.
fn without_items(path: &str) -> String {
    let mut parts = path.split('[');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text.push_str(part.split_once(']').map_or(part, |(_, after)| after));
    }
    text
}

/// The name of a type without the modules around it.
pub(super) fn short_name<T>() -> &'static str {
    let name = type_name::<T>();
    let end = name.find('<').unwrap_or(name.len());
    let start = name[..end].rfind("::").map_or(0, |at| at + 2);
    &name[start..]
}

#[cfg(test)]
mod tests {
    use super::without_items;

    #[test]
    fn a_path_loses_the_indices_of_its_items() {
        assert_eq!(without_items("a.b"), "a.b");
        assert_eq!(without_items("a.b[12]"), "a.b");
        assert_eq!(without_items("a.b[1].c[2].d!undo"), "a.b.c.d!undo");
    }
}
