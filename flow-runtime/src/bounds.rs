//! Bounds on the values, the errors and the nodes of flows.
//!
//! These traits are implemented for all types that fit. Programs neither implement nor name them.
//! rustc names them in its messages, and the page of each says what to do then.

pub use crate::__private::{
    Cloneable, LosesNoError, OwnedForPool, ReadsAs, ReadsError, RunContext, TakeItem,
};
pub use crate::checked::{GoesBetweenThreads, ReadByReference, SharedByRuns};
#[cfg(feature = "stored")]
pub use crate::json::Stored;
pub use crate::ordered::OrderOf;
pub use crate::policy::GetsNodeError;
pub use crate::question::CanAnswer;
pub use crate::requirement::{CanReceive, CanTransact};
pub use crate::visit::IntoFailure;
