//! The error of a node that failed.
//!
//! A node fails twice if its fallback fails too. Then the fallback's error counts, and its source
//! is the error that the fallback should have handled.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use crate::error::BoxError;
use crate::panics::Panicked;

/// The error of a node that failed.
///
/// A node behind an `"error"` edge can read it as `error: &NodeError`, and `exec_fallback` receives
/// it. Otherwise it ends the run as [`FlowError::Node`](crate::FlowError::Node). Its
/// [`source`](Error::source) is the node's own error.
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
    phase: Phase,
    failure: Failure,
    /// The error as the node returned it in this run, if `self` is what was stored of it.
    returned: Option<Box<NodeError>>,
}

/// The part of a node that failed. Printed in lower case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Phase {
    /// `prep`, before the first attempt.
    Prep,
    /// `exec`, or its fallback.
    Exec,
    /// `post`, after the attempts.
    Post,
}

impl Phase {
    /// Its name: `prep`, `exec` or `post`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Phase::Prep => "prep",
            Phase::Exec => "exec",
            Phase::Post => "post",
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The failure of a node.
#[derive(Debug)]
pub enum Failure {
    /// The node returned this error.
    Returned(BoxError),
    /// An attempt took longer than the node's `timeout`.
    TimedOut(TimedOut),
    /// A poll had no answer in time.
    Deadline(TimedOut),
    /// The node panicked, in a run that counts a panic as a failed attempt.
    Panicked(Panicked),
}

/// The source of a [`NodeError`] if an attempt took longer than its node's `timeout`.
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
            Failure::Panicked(panicked) => panicked,
        }
    }

    fn into_error(self) -> BoxError {
        match self {
            Failure::Returned(error) => error,
            Failure::TimedOut(timeout) | Failure::Deadline(timeout) => Box::new(timeout),
            Failure::Panicked(panicked) => Box::new(panicked),
        }
    }
}

impl NodeError {
    /// The error of the node at a path, after this many attempts, including the first.
    pub fn new(path: String, attempts: u32, failure: Failure) -> Self {
        NodeError {
            path,
            attempts,
            phase: Phase::Exec,
            failure,
            returned: None,
        }
    }

    /// The error as the node returned it, if that was in this run, or else as it was stored. An
    /// engine that records decisions about an error bases them on this one.
    pub fn as_returned(&self) -> &NodeError {
        self.returned.as_deref().unwrap_or(self)
    }

    /// The stored error, with the error that the node returned.
    #[cfg(feature = "stored")]
    pub(crate) fn stored_of(self, returned: NodeError) -> Self {
        NodeError {
            returned: Some(Box::new(returned)),
            ..self
        }
    }

    /// This error, for another part of the node than `exec`.
    pub fn in_phase(self, phase: Phase) -> Self {
        NodeError { phase, ..self }
    }

    /// The error of a fallback that failed as well. It keeps the error that the fallback should
    /// have handled.
    pub(crate) fn of_fallback(self, fallback: Failure) -> Self {
        let error = FallbackError {
            error: fallback.into_error(),
            cause: self.failure.into_error(),
        };
        NodeError {
            path: self.path,
            attempts: self.attempts,
            phase: self.phase,
            failure: Failure::Returned(Box::new(error)),
            returned: None,
        }
    }

    pub(crate) fn is_deadline(&self) -> bool {
        matches!(self.failure, Failure::Deadline(_))
    }

    pub(crate) fn into_failure(self) -> Failure {
        self.failure
    }

    /// The failure, as engines store it.
    pub fn failure(&self) -> &Failure {
        &self.failure
    }

    /// The node's path, such as `orders.payment.charge`.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The number of attempts, including the first.
    pub fn attempts(&self) -> u32 {
        self.attempts
    }

    /// The part of the node that failed.
    ///
    /// # Examples
    ///
    /// ```
    /// use flow_runtime::{Phase, prelude::*};
    ///
    /// #[derive(Default)]
    /// struct Parse;
    ///
    /// #[node(writes = number)]
    /// impl Parse {
    ///     fn prep(&self, text: &str) -> Result<u32, std::num::ParseIntError> {
    ///         text.parse()
    ///     }
    ///
    ///     fn exec(&self, number: &u32) -> u32 {
    ///         number * 2
    ///     }
    /// }
    ///
    /// flow! {
    ///     Double(text: String) -> (number: u32) {
    ///         node parse: Parse;
    ///         start >> parse >> end;
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() {
    /// let input = DoubleInput::builder().text("ten".into()).build();
    /// let error = Double::new().run(input).await.unwrap_err();
    /// assert_eq!(error.node_error().unwrap().phase(), Phase::Prep);
    /// # }
    /// ```
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// Returns true if the last attempt exceeded the node's `timeout`, or if a poll had no answer
    /// within its `timeout`.
    pub fn is_timeout(&self) -> bool {
        matches!(self.failure, Failure::TimedOut(_) | Failure::Deadline(_))
    }

    /// The panic, if the node's last failure was one and no fallback handled it. Only a durable run
    /// counts a panic as a failed attempt. Any other run ends with
    /// [`FlowError::Panicked`](crate::FlowError::Panicked).
    pub fn panicked(&self) -> Option<&Panicked> {
        match &self.failure {
            Failure::Panicked(panicked) => Some(panicked),
            Failure::Returned(_) | Failure::TimedOut(_) | Failure::Deadline(_) => None,
        }
    }

    /// The node's own error or, if its fallback failed as well, that of the fallback.
    pub fn error(&self) -> &(dyn Error + Send + Sync + 'static) {
        let error = self.failure.error();
        match error.downcast_ref::<FallbackError>() {
            Some(fallback) => &*fallback.error,
            None => error,
        }
    }

    /// The node's own error as a value of its type, if that is `E`.
    ///
    /// A durable run stores an error and continues with what was stored, even without a crash. An
    /// error of a type that is `Serialize` and `Deserialize` is stored with its value and is found
    /// here. Of other types, only the texts are stored, and this returns `None`. So derive both for
    /// an error that a flow distinguishes. The node has to name the type, without type parameters
    /// of its own and without a lifetime.
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

/// Prints where the node failed and after how many attempts; with `{:#}` also why.
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

    /// Writes the number of attempts and the reason, without the path.
    pub(crate) fn write_failure(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_attempts(f)?;
        write_causes(self, f)
    }
}

/// Writes the causes of an error, each after a colon.
pub(crate) fn write_causes(error: &dyn Error, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut next = error.source();
    while let Some(error) = next {
        write!(f, ": {error}")?;
        next = error.source();
    }
    Ok(())
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

/// A fallback's own error, with the error that the fallback should have handled as its source.
#[derive(Debug)]
pub(crate) struct FallbackError {
    pub(crate) error: BoxError,
    pub(crate) cause: BoxError,
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
