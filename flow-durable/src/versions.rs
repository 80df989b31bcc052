//! The versions of a flow that a runtime knows.

use std::sync::Arc;

use crate::registered::Registered;

/// The versions of one flow. Executions start on the newest one, and continue on the one on which
/// they started.
pub(crate) struct Versions {
    newest: Arc<Registered>,
    /// No two versions have the same structure.
    earlier: Vec<Arc<Registered>>,
    /// True if no further executions start.
    retired: bool,
}

impl Versions {
    pub(crate) fn new(only: Arc<Registered>) -> Self {
        Versions {
            newest: only,
            earlier: Vec::new(),
            retired: false,
        }
    }

    /// The version on which executions start. `None` if the flow is retired.
    pub(crate) fn current(&self) -> Option<&Arc<Registered>> {
        (!self.retired).then_some(&self.newest)
    }

    /// The version whose structure has this hash, or else the newest one.
    pub(crate) fn closest(&self, hash: &str) -> &Arc<Registered> {
        let mut earlier = self.earlier.iter();
        let started_on = earlier.find(|version| version.hash() == hash);
        started_on.unwrap_or(&self.newest)
    }

    /// All versions, from the newest one on.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<Registered>> {
        std::iter::once(&self.newest).chain(self.earlier.iter().rev())
    }

    /// Adds the version on which executions start from now on.
    pub(crate) fn add(&mut self, new: Arc<Registered>) {
        self.earlier.retain(|version| version.hash() != new.hash());
        let before = std::mem::replace(&mut self.newest, new);
        if before.hash() != self.newest.hash() {
            self.earlier.push(before);
        }
        self.retired = false;
    }

    /// Adds a version on which executions continue, but do not start.
    pub(crate) fn add_earlier(&mut self, version: Arc<Registered>) {
        if self.closest(version.hash()).hash() != version.hash() {
            self.earlier.push(version);
        }
    }

    pub(crate) fn retire(&mut self) {
        self.retired = true;
    }

    /// The earlier versions with which nothing starts, runs or is resumed at this moment.
    pub(crate) fn at_rest(&self) -> Vec<Arc<Registered>> {
        let earlier = self.earlier.iter();
        let at_rest = earlier.filter(|version| Arc::strong_count(version) == 1);
        at_rest.cloned().collect()
    }

    /// Forgets an earlier version, unless something has been resumed with it since it was
    /// [at rest](Self::at_rest). Returns true if it was forgotten.
    pub(crate) fn forget(&mut self, version: &Arc<Registered>) -> bool {
        let still_at_rest = Arc::strong_count(version) == 2;
        let same = |other: &Arc<Registered>| Arc::ptr_eq(other, version);
        match self.earlier.iter().position(same) {
            Some(at) if still_at_rest => {
                self.earlier.remove(at);
                true
            }
            _ => false,
        }
    }
}
