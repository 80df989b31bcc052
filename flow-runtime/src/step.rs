//! Nodes, as engines see them.

use std::any::type_name;

use crate::policy::Policy;

/// A node that is one step: a function, or a type with `exec`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a node that is one step",
    label = "not a function or type with `#[node]`",
    note = "a function, or a type with `exec`, becomes such a node by `#[node]`",
    note = "a flow has steps of its own: in a test, script the nodes inside it"
)]
pub trait Step {
    /// The type that it returns when it succeeds.
    type Outcome: Send;
    /// Its enum of actions; `()` if it has none.
    type Actions;

    /// The name of the outcome's type. It differs from the name of [`Outcome`](Self::Outcome) only
    /// for nodes whose types are known at run time.
    fn outcome_type(_outcome: &Self::Outcome) -> &'static str {
        type_name::<Self::Outcome>()
    }

    /// The outcome that a replay will return, given the outcome and what was read back from its
    /// JSON. An engine that stores outcomes calls this before it stores one.
    ///
    /// # Errors
    ///
    /// The reason why a replay could not read the JSON. Only for nodes whose types are known at run
    /// time, because any JSON can be read as their outcome.
    fn read_back(_outcome: &Self::Outcome, read: Self::Outcome) -> Result<Self::Outcome, String> {
        Ok(read)
    }

    /// Its own settings.
    #[doc(hidden)]
    const POLICY: &'static Policy = &Policy::DEFAULT;
}
