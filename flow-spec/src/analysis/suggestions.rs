//! Suggests, for each key that nothing writes, the key that was probably meant.

use std::collections::HashMap;

use super::keys::Key;
use super::model::Model;
use super::points::point_of;
use super::spelling::{borrowed, is_named, is_standard, paths};
use crate::graph::{DEFAULT_ACTION, ERROR_KEY, NodeId, NodeKind};
use crate::suggest::closest;

/// A flow with more unknown keys has another problem than typing mistakes.
const MOST: usize = 64;

/// The keys that were probably meant.
pub(super) struct Suggestions<'g> {
    meant: HashMap<&'g str, &'g str>,
}

impl<'g> Suggestions<'g> {
    pub(super) fn new(model: &Model<'g>) -> Suggestions<'g> {
        let unknown = model
            .keys
            .iter()
            .filter(|key| !exists(key) && key.name != ERROR_KEY);
        let known = || {
            model
                .keys
                .iter()
                .filter(|key| exists(key))
                .map(|key| key.name)
        };
        let unknown: Vec<&Key<'g>> = unknown
            .filter(|key| key.output || key.is_read())
            .take(MOST)
            .collect();
        let likely = |key: &Key<'g>| {
            let meant = results_of(model, key).or_else(|| closest(key.name, known()))?;
            Some((key.name, meant))
        };
        let mut meant: HashMap<&str, &str> = unknown.iter().filter_map(|key| likely(key)).collect();
        // The only unread input and the only unwritten key, if they have one type.
        let unread = model.keys.iter().filter(|key| {
            key.input.is_some() && !key.is_read() && !key.output && key.mapped_at.is_empty()
        });
        if let (Some(input), Some(key)) = (only(unread), only(&unknown))
            && !meant.contains_key(key.name)
            && fits(model, key, input)
        {
            meant.insert(key.name, input.name);
        }
        for key in &unknown {
            if meant.contains_key(key.name) {
                continue;
            }
            let extended = model.keys.iter().filter(|other| {
                exists(other) && is_extended(key.name, other.name) && reads_as(model, key, other)
            });
            // A value of a user's type that nothing reads under its own key.
            let unread = model.keys.iter().filter(|other| {
                let is_unread = !other.is_read() && !other.output && other.mapped_at.is_empty();
                !other.writers.is_empty() && is_unread && reads_own_type(model, key, other)
            });
            let before = before(model, key);
            let extended = extended.filter(|other| comes_before(model, other, key, &before));
            let unread = unread.filter(|other| comes_before(model, other, key, &before));
            if let Some(other) = only(extended).or_else(|| only(unread)) {
                meant.insert(key.name, other.name);
            }
        }
        Suggestions { meant }
    }

    /// The existing key that was probably meant by one that does not exist.
    pub(super) fn of(&self, key: &str) -> Option<&'g str> {
        self.meant.get(key).copied()
    }

    /// Returns `true` if this key was probably meant where another one is read or returned.
    pub(super) fn is_meant(&self, key: &str) -> bool {
        self.meant.values().any(|&meant| meant == key)
    }
}

/// The points before the readers of the key, or all points if the flow returns it.
fn before(model: &Model<'_>, key: &Key<'_>) -> Vec<bool> {
    if key.output {
        return vec![true; model.points.kinds.len()];
    }
    let readers = key
        .reads
        .iter()
        .map(|&(id, _)| point_of(model.shape.outermost(id)));
    model.points.predecessors.reach(readers)
}

/// Returns `true` if an input, or a node that does not read the key itself, writes the other key
/// before the readers of the key.
fn comes_before(model: &Model<'_>, other: &Key<'_>, key: &Key<'_>, before: &[bool]) -> bool {
    let reads_it = |id: NodeId| key.reads.iter().any(|&(reader, _)| reader == id);
    let mut writers = other.writers.iter();
    other.input.is_some()
        || writers.any(|&id| !reads_it(id) && before[point_of(model.shape.outermost(id))])
}

/// The key of the results of the loop whose body writes this key, if lists are read.
fn results_of<'g>(model: &Model<'g>, key: &Key<'_>) -> Option<&'g str> {
    let is_list = |ty: &str| ty.is_empty() || ty.starts_with('[') || ty.starts_with("Vec<");
    let mut reads = key.reads.iter();
    if !reads.all(|&(node, read)| is_list(&model.graph.node(node).reads[read].rust_type)) {
        return None;
    }
    model.graph.nodes.iter().find_map(|node| match &node.kind {
        NodeKind::Each { writes, .. } if writes.iter().any(|write| write == key.name) => {
            let results = node.action(DEFAULT_ACTION)?.writes.first()?;
            Some(results.key.as_str())
        }
        _ => None,
    })
}

/// Returns `true` if one name is the other with more words before or after it, like `weight_kg` and
/// `weight`.
fn is_extended(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() < other.len() {
        (one, other)
    } else {
        (other, one)
    };
    let more = long
        .strip_prefix(short)
        .or_else(|| long.strip_suffix(short));
    more.is_some_and(|more| more.starts_with('_') || more.ends_with('_'))
}

/// Returns `true` if all readers and returns of the key would accept the type of the other one, and
/// it is not a type of the standard library.
fn reads_own_type(model: &Model<'_>, key: &Key<'_>, other: &Key<'_>) -> bool {
    let is_own = |ty: &str| paths(ty).any(|path| !path.is_empty() && !is_standard(path));
    type_of(model, other).is_some_and(is_own) && reads_as(model, key, other)
}

/// The type of a key, from an input or a writer. `None` if it is not known.
fn type_of<'g>(model: &Model<'g>, key: &Key<'_>) -> Option<&'g str> {
    let graph = model.graph;
    let written = || {
        let writers = key.writers.iter().map(|&id| graph.node(id));
        let actions = writers.flat_map(|node| &node.actions);
        let mut writes = actions.flat_map(|action| &action.writes);
        let write = writes.find(|write| write.key == key.name)?;
        Some(write.rust_type.as_str())
    };
    let input = key.input.map(|at| graph.inputs[at].rust_type.as_str());
    input.or_else(written).filter(|ty| !ty.is_empty())
}

/// Returns `true` if all readers and returns of the key would accept the type of the other one.
fn reads_as(model: &Model<'_>, key: &Key<'_>, other: &Key<'_>) -> bool {
    let graph = model.graph;
    let Some(ty) = type_of(model, other) else {
        return false;
    };
    let mut outputs = graph.outputs.iter().filter(|output| output.key == key.name);
    outputs.all(|output| output.rust_type == ty)
        && key.reads.iter().all(|&(node, read)| {
            let read = &graph.node(node).reads[read].rust_type;
            read == ty || *read == borrowed(ty)
        })
}

/// The item, if there is exactly one.
fn only<T>(items: impl IntoIterator<Item = T>) -> Option<T> {
    let mut items = items.into_iter();
    let first = items.next();
    first.filter(|_| items.next().is_none())
}

/// Returns `true` if all readers of the key would accept the type of the input.
fn fits(model: &Model<'_>, key: &Key<'_>, input: &Key<'_>) -> bool {
    let Some(input) = input.input.map(|at| &model.graph.inputs[at]) else {
        return false;
    };
    !input.optional
        && !key.reads.is_empty()
        && !key.output
        && key.reads.iter().all(|&(node, read)| {
            let read = &model.graph.node(node).reads[read];
            is_named(&read.rust_type)
                && (read.rust_type == input.rust_type
                    || read.rust_type == borrowed(&input.rust_type))
        })
}

/// Returns `true` if something can give the key a value that the whole flow sees.
pub(super) fn exists(key: &Key<'_>) -> bool {
    let is_error = key.name == ERROR_KEY && !key.written_at.is_empty();
    key.input.is_some() || !key.writers.is_empty() || !key.mapped_at.is_empty() || is_error
}
