//! Suggests a key for each key that nothing writes: the one that was probably meant.

use std::collections::HashMap;

use super::keys::Key;
use super::model::Model;
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
        let meant = unknown
            .filter(|key| key.output || key.is_read())
            .take(MOST)
            .filter_map(|key| Some((key.name, closest(key.name, known())?)))
            .collect();
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

/// Returns true if something can give the key a value that the whole flow sees.
pub(super) fn exists(key: &Key<'_>) -> bool {
    let is_error = key.name == ERROR_KEY && !key.written_at.is_empty();
    key.input.is_some() || !key.writers.is_empty() || !key.mapped_at.is_empty() || is_error
}
