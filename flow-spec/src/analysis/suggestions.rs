//! Suggests a key for each key that nothing writes: the one that was probably meant.

use std::collections::HashMap;

use super::keys::Key;
use super::model::Model;
use super::spelling::{borrowed, is_named};
use crate::graph::ERROR_KEY;
use crate::suggest::closest;

/// A flow with more unknown keys than this has another problem than typing mistakes.
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
        let mut meant: HashMap<&str, &str> = unknown
            .iter()
            .filter_map(|key| Some((key.name, closest(key.name, known())?)))
            .collect();
        // The only input that nothing reads, and the only key that nothing writes, of one type.
        let unread = model.keys.iter().filter(|key| {
            key.input.is_some() && !key.is_read() && !key.output && key.mapped_at.is_empty()
        });
        if let (Some(input), Some(key)) = (only(unread), only(unknown))
            && !meant.contains_key(key.name)
            && fits(model, key, input)
        {
            meant.insert(key.name, input.name);
        }
        Suggestions { meant }
    }

    /// The existing key that was probably meant by one that does not exist.
    pub(super) fn of(&self, key: &str) -> Option<&'g str> {
        self.meant.get(key).copied()
    }

    /// Returns true if this key was probably meant where another one is read or returned.
    pub(super) fn is_meant(&self, key: &str) -> bool {
        self.meant.values().any(|&meant| meant == key)
    }
}

/// The item, if there is one and no other.
fn only<T>(items: impl IntoIterator<Item = T>) -> Option<T> {
    let mut items = items.into_iter();
    let first = items.next();
    first.filter(|_| items.next().is_none())
}

/// Returns true if all that read the key would read the type of the input.
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

/// Returns true if something can give the key a value that the whole flow sees.
pub(super) fn exists(key: &Key<'_>) -> bool {
    let is_error = key.name == ERROR_KEY && !key.written_at.is_empty();
    key.input.is_some() || !key.writers.is_empty() || !key.mapped_at.is_empty() || is_error
}
