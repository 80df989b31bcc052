//! The owners whose executions are visible.

use std::sync::Arc;

/// The owners whose executions are visible.
#[derive(Debug, Clone)]
pub(crate) enum Owners {
    /// This one. `None` for the executions without an owner.
    One(Option<Arc<str>>),
    /// All, and the executions without an owner.
    All,
}

impl Owners {
    /// Returns true if the executions of this owner are visible.
    pub(crate) fn include(&self, owner: Option<&str>) -> bool {
        match self {
            Owners::One(one) => one.as_deref() == owner,
            Owners::All => true,
        }
    }
}
