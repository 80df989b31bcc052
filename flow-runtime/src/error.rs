//! Errors that end a run before it reaches an `end`.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use crate::node_error::{NodeError, write_causes};

/// The error of a step. It is boxed because it is rare, and the result of every step should be
/// small.
pub type Failed = Box<FlowError>;

/// An error of any type, as nodes return them.
pub type BoxError = Box<dyn Error + Send + Sync + 'static>;

/// An error that ended a run before it reached an `end`.
///
/// `{}` prints what ended the run and where; the node's own error is its [`source`](Error::source).
/// `{:#}` prints the whole chain in one line.
///
/// # Examples
///
/// ```
/// use flow_runtime::prelude::*;
///
/// #[node(retry(attempts = 2))]
/// fn charge(amount: &u64) -> Result<String, String> {
///     Err(format!("no connection to charge {amount}"))
/// }
///
/// flow! {
///     Payment(amount: u64) -> (charge: String) {
///         start >> charge >> end;
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let error = Payment::new().run(PaymentInput { amount: 5 }).await.unwrap_err();
/// assert_eq!(error.to_string(), "node `payment.charge` failed after 2 attempts");
/// assert_eq!(
///     format!("{error:#}"),
///     "node `payment.charge` failed after 2 attempts: no connection to charge 5",
/// );
/// let node_error = error.node_error().unwrap();
/// assert_eq!((node_error.path(), node_error.attempts()), ("payment.charge", 2));
/// # }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum FlowError {
    /// A node failed. All its attempts failed, so did its fallback if it has one, and it has no
    /// `"error"` edge.
    Node(NodeError),
    /// A node panicked. A panic is a bug, not an outcome: the node is not retried, and the panic is
    /// not routed. A durable run instead counts it as a failed attempt: see
    /// [`NodeError::panicked`]. In a program built with `panic = "abort"`, the process ends.
    Panicked {
        /// The node's path, such as `orders.payment.charge`.
        path: String,
        /// The panic's message.
        message: String,
    },
    /// The run took more steps than its budget allows; see
    /// [`RunOptions::step_budget`](crate::RunOptions::step_budget).
    StepLimit {
        /// The path of the node that would have been the next step.
        path: String,
        /// The budget.
        limit: u64,
    },
    /// The run took longer than it may; see [`RunOptions::deadline`](crate::RunOptions::deadline).
    TimedOut {
        /// The path of the node that was running.
        path: String,
        /// The time that the run may take.
        after: Duration,
    },
    /// A question to a person has no answer, or one of another type.
    Unanswered {
        /// The path of the node that asked.
        path: String,
        /// The reason.
        error: BoxError,
    },
    /// Items of a loop `with spread(…)`, which ran as an execution of their own, ended without
    /// results. The reason is not a failed node.
    Part {
        /// The items, such as `report.summaries[16..32]`.
        path: String,
        /// The reason.
        reason: String,
    },
    /// What a visit did could not be undone: its undo node has failed. Older visits were not undone
    /// either.
    NotUndone {
        /// The path of the node whose visit was to be undone.
        path: String,
        /// The error of the undo node.
        error: Failed,
        /// The error for which the run was undone. `None` if the step `undo` did it.
        cause: Option<Failed>,
    },
    /// The run was cancelled; see [`RunOptions::cancellation`](crate::RunOptions::cancellation).
    Cancelled {
        /// The path of the node that was running.
        path: String,
    },
}

impl FlowError {
    /// The path of the node at which the run ended, such as `orders.payment.charge`.
    pub fn path(&self) -> &str {
        match self {
            FlowError::Node(error) => error.path(),
            FlowError::Panicked { path, .. }
            | FlowError::StepLimit { path, .. }
            | FlowError::TimedOut { path, .. }
            | FlowError::Part { path, .. }
            | FlowError::NotUndone { path, .. }
            | FlowError::Cancelled { path } => path,
            FlowError::Unanswered { path, .. } => path,
        }
    }

    /// The failed node's error, if that is what ended the run.
    pub fn node_error(&self) -> Option<&NodeError> {
        match self {
            FlowError::Node(error) => Some(error),
            _ => None,
        }
    }
}

impl fmt::Display for FlowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FlowError::Node(error) => error.fmt(f),
            FlowError::Panicked { path, message } => write!(f, "node `{path}` panicked: {message}"),
            FlowError::StepLimit { path, limit } => {
                write!(
                    f,
                    "the run used up its {limit} steps before `{path}`; if it is meant to be that long, raise `step_budget`"
                )
            }
            FlowError::TimedOut { path, after } => {
                write!(
                    f,
                    "the run was stopped at `{path}`: it took longer than {after:?}"
                )
            }
            FlowError::Unanswered { path, .. } => {
                write!(f, "the question of `{path}` was not answered")?;
                if f.alternate() {
                    write_causes(self, f)?;
                }
                Ok(())
            }
            FlowError::Part { path, reason } => {
                write!(f, "the items `{path}` have no results: {reason}")
            }
            FlowError::NotUndone { path, error, cause } => {
                write!(f, "what `{path}` did was not undone")?;
                if f.alternate() {
                    write!(f, ": {error:#}")?;
                    if let Some(cause) = cause {
                        write!(f, "; it was to be undone because {cause:#}")?;
                    }
                }
                Ok(())
            }
            FlowError::Cancelled { path } => write!(f, "the run was cancelled at `{path}`"),
        }
    }
}

impl Error for FlowError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            FlowError::Node(error) => error.source(),
            FlowError::Unanswered { error, .. } => Some(&**error),
            FlowError::NotUndone { error, .. } => Some(&**error),
            _ => None,
        }
    }
}
