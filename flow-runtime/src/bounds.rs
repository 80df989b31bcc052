//! What the values, the errors and the nodes of flows have to be.
//!
//! These traits are implemented for all types that fit. No program implements or names them: they
//! are here because rustc names them in its messages, and each says what to do then.

pub use crate::__private::{
    Cloneable, LosesNoError, OwnedForPool, ReadsAs, ReadsError, RunContext, TakeItem,
};
pub use crate::checked::{GoesBetweenThreads, ReadByReference, SharedByRuns};
#[cfg(feature = "stored")]
pub use crate::json::Stored;
pub use crate::ordered::OrderOf;
pub use crate::policy::GetsNodeError;
pub use crate::question::CanAnswer;
pub use crate::requirement::CanTransact;
pub use crate::visit::IntoFailure;
