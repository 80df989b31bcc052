//! The results of a failed step: a route, a value, or the end of the run.

use crate::error::Failed;
use crate::error::FlowError;
use crate::node_error::NodeError;

/// The types in a node's result.
pub trait Fallible {
    /// The value.
    type Ok;
    /// The error.
    type Error;
}

impl<T, E> Fallible for Result<T, E> {
    type Ok = T;
    type Error = E;
}

/// Returns the error of the node, if a node failed.
#[expect(
    clippy::boxed_local,
    reason = "a step's failure is boxed wherever it goes"
)]
pub fn node_error(failed: Failed) -> Result<NodeError, Failed> {
    match *failed {
        FlowError::Node(error) => Ok(error),
        other => Err(Box::new(other)),
    }
}

/// Returns true if a poll had no answer in time.
pub fn is_deadline(failed: &Failed) -> bool {
    matches!(&**failed, FlowError::Node(error) if error.is_deadline())
}

/// The result of one item, with its failure kept as a value.
pub fn collect<T>(result: Result<T, Failed>) -> Result<Result<T, NodeError>, Failed> {
    match result {
        Ok(value) => Ok(Ok(value)),
        Err(failed) => node_error(failed).map(Err),
    }
}
