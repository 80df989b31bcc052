//! Collects the mistakes that the passes find.

use crate::diagnostic::Diagnostic;

/// The largest number of mistakes that are reported.
pub(crate) const MOST: usize = 1000;

/// The first [`MOST`] mistakes, with long texts shortened. A graph can have one for each pair of
/// its parts.
#[derive(Debug, Default)]
pub(super) struct Found(Vec<Diagnostic>);

impl Found {
    /// Adds a mistake, unless the limit is reached.
    pub(super) fn push(&mut self, diagnostic: Diagnostic) {
        if !self.is_full() {
            self.0.push(diagnostic.shortened());
        }
    }

    /// Returns `true` if further mistakes are not kept, so that there is no need to look for them.
    pub(super) fn is_full(&self) -> bool {
        self.0.len() >= MOST
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The mistakes, in the order of their places.
    pub(super) fn sorted(mut self) -> Vec<Diagnostic> {
        self.0.sort_by_key(|diagnostic| diagnostic.site);
        self.0
    }
}
