//! Mistakes as the passes find them.

use crate::diagnostic::Diagnostic;

/// How many mistakes are reported. A flow that has more has others after these are mended.
pub(crate) const MOST: usize = 1000;

/// The first [`MOST`] mistakes, each in a few words: a graph may have one for each pair of its parts.
#[derive(Debug, Default)]
pub(super) struct Found(Vec<Diagnostic>);

impl Found {
    /// Adds a mistake, if it has room.
    pub(super) fn push(&mut self, diagnostic: Diagnostic) {
        if !self.is_full() {
            self.0.push(diagnostic.shortened());
        }
    }

    /// Whether no further one has room, so that there is no need to look for it.
    pub(super) fn is_full(&self) -> bool {
        self.0.len() >= MOST
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// In the order of the places they are at.
    pub(super) fn sorted(mut self) -> Vec<Diagnostic> {
        self.0.sort_by_key(|diagnostic| diagnostic.site);
        self.0
    }
}
