//! What can go wrong in a run, and where it went wrong.

use std::error::Error;
use std::fmt;
use std::time::Duration;

/// An error of any type, as nodes return them.
pub type BoxError = Box<dyn Error + Send + Sync + 'static>;

/// Why a run ended without reaching an `end`.
///
/// Printed with `{}` it says what ended the run and where; the node's own error is its
/// [`source`](Error::source). Printed with `{:#}` it says the whole chain in one line.
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
    /// A node failed for good: all its attempts failed, its fallback too if it has one, and no `"error"` edge
    /// leads on from it.
    Node(NodeError),
    /// A node panicked. A panic is a bug, not an outcome: it is neither retried nor routed.
    Panicked {
        /// The node's path, such as `orders.payment.charge`.
        path: String,
        /// The panic's message.
        message: String,
    },
    /// The run took more steps than its budget allows; see [`RunOptions::step_budget`](crate::RunOptions::step_budget).
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
        /// How long it may take.
        after: Duration,
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
            | FlowError::Cancelled { path } => path,
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
            FlowError::Cancelled { path } => write!(f, "the run was cancelled at `{path}`"),
        }
    }
}

impl Error for FlowError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            FlowError::Node(error) => error.source(),
            _ => None,
        }
    }
}

/// A node that failed for good.
///
/// It can be read as `error: &NodeError` where an `"error"` edge leads, it is handed to `exec_fallback`, and it ends
/// the run as [`FlowError::Node`]. Its [`source`](Error::source) is the node's own error.
///
/// # Examples
///
/// ```
/// use flow_runtime::prelude::*;
///
/// #[node(timeout = "10ms")]
/// async fn load(name: &str) -> String {
///     std::future::pending::<()>().await;
///     name.to_owned()
/// }
///
/// #[node(writes = load)]
/// fn explain(error: &NodeError) -> String {
///     if error.is_timeout() { format!("{} is slow", error.path()) } else { format!("{error:#}") }
/// }
///
/// flow! {
///     Load(name: String) -> (load: String) {
///         start >> load >> end;
///         load - "error" >> explain >> end("failed");
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), FlowError> {
/// let output = Load::new().run(LoadInput { name: "map".into() }).await?;
/// assert_eq!(output.load, "load.load is slow");
/// # Ok(()) }
/// ```
pub struct NodeError {
    path: String,
    attempts: u32,
    failure: Failure,
}

/// What failed.
#[derive(Debug)]
pub enum Failure {
    /// The node returned this error.
    Returned(BoxError),
    /// An attempt took longer than the node's `timeout`.
    TimedOut(TimedOut),
    /// A poll had no answer in time.
    Deadline(TimedOut),
}

/// An attempt took longer than its node's `timeout`: the source of such a [`NodeError`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimedOut {
    /// The timeout that was exceeded.
    pub after: Duration,
}

impl fmt::Display for TimedOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "timed out after {:?}", self.after)
    }
}

impl Error for TimedOut {}

impl Failure {
    pub(crate) fn error(&self) -> &(dyn Error + Send + Sync + 'static) {
        match self {
            Failure::Returned(error) => &**error,
            Failure::TimedOut(timeout) | Failure::Deadline(timeout) => timeout,
        }
    }

    fn into_error(self) -> BoxError {
        match self {
            Failure::Returned(error) => error,
            Failure::TimedOut(timeout) | Failure::Deadline(timeout) => Box::new(timeout),
        }
    }
}

impl NodeError {
    pub(crate) fn new(path: String, attempts: u32, failure: Failure) -> Self {
        NodeError {
            path,
            attempts,
            failure,
        }
    }

    /// The error of a fallback that failed as well. It keeps the error that it should have made good.
    pub(crate) fn of_fallback(self, fallback: Failure) -> Self {
        let error = FallbackError {
            error: fallback.into_error(),
            cause: self.failure.into_error(),
        };
        let failure = Failure::Returned(Box::new(error));
        NodeError {
            path: self.path,
            attempts: self.attempts,
            failure,
        }
    }

    pub(crate) fn is_deadline(&self) -> bool {
        matches!(self.failure, Failure::Deadline(_))
    }

    /// The node's path, such as `orders.payment.charge`.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// How many attempts were made, the first included.
    pub fn attempts(&self) -> u32 {
        self.attempts
    }

    /// Whether the last attempt exceeded the node's `timeout`, or a poll had no answer within its own.
    pub fn is_timeout(&self) -> bool {
        matches!(self.failure, Failure::TimedOut(_) | Failure::Deadline(_))
    }

    /// The node's own error. Of a node whose fallback failed as well, the fallback's.
    pub fn error(&self) -> &(dyn Error + Send + Sync + 'static) {
        let error = self.failure.error();
        match error.downcast_ref::<FallbackError>() {
            Some(fallback) => &*fallback.error,
            None => error,
        }
    }

    /// The node's own error as the type it returned, if it is of that type.
    ///
    /// # Examples
    ///
    /// ```
    /// use flow_runtime::prelude::*;
    ///
    /// #[node]
    /// fn parse(text: &str) -> Result<u32, std::num::ParseIntError> {
    ///     text.parse()
    /// }
    ///
    /// flow! {
    ///     Parse(text: String) -> (parse: u32) {
    ///         start >> parse >> end;
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() {
    /// let input = ParseInput::builder().text("ten".into()).build();
    /// let error = Parse::new().run(input).await.unwrap_err();
    /// let error = error.node_error().and_then(|error| error.downcast_ref::<std::num::ParseIntError>());
    /// assert_eq!(error.unwrap().to_string(), "invalid digit found in string");
    /// # }
    /// ```
    pub fn downcast_ref<E: Error + 'static>(&self) -> Option<&E> {
        self.error().downcast_ref()
    }
}

/// Says where it failed and after how many attempts; with `{:#}` also why.
impl fmt::Display for NodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "node `{}` ", self.path)?;
        if f.alternate() {
            self.write_failure(f)
        } else {
            self.write_attempts(f)
        }
    }
}

impl NodeError {
    fn write_attempts(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.attempts == 1 { "" } else { "s" };
        write!(f, "failed after {} attempt{plural}", self.attempts)
    }

    /// How often it was tried, and why it failed, without the path.
    pub(crate) fn write_failure(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_attempts(f)?;
        let mut next = self.source();
        while let Some(error) = next {
            write!(f, ": {error}")?;
            next = error.source();
        }
        Ok(())
    }
}

impl fmt::Debug for NodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NodeError")
            .field("path", &self.path)
            .field("attempts", &self.attempts)
            .field("error", &self.failure.error())
            .finish()
    }
}

impl Error for NodeError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(self.failure.error())
    }
}

/// A fallback's own error, with the error that it should have made good as its source.
#[derive(Debug)]
struct FallbackError {
    error: BoxError,
    cause: BoxError,
}

impl fmt::Display for FallbackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl Error for FallbackError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.cause)
    }
}
