//! Nodes as engines see them.

use crate::policy::Policy;

/// A node that is one step: a function, or a type with `exec`.
pub trait Step {
    /// What it returns when it succeeds.
    type Outcome: Send;
    /// Its enum of actions; `()` if it has none.
    type Actions;
    /// Its own settings.
    #[doc(hidden)]
    const POLICY: &'static Policy = &Policy::DEFAULT;
}
