//! The earlier runs of an execution.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use tokio::time::Instant;

use futures_util::future::BoxFuture;

use crate::frame::{Frame, Place};
use crate::node_error::NodeError;

/// The earlier runs of an execution, in other processes or before a crash. A run consults it in
/// places where it has no access to the engine.
///
/// An engine that keeps executions passes it to
/// [`Run::with_history`](crate::engine::Run::with_history).
pub trait History: fmt::Debug + Send + Sync {
    /// The name of this step, which no other step of any execution has:
    /// [`Context::step_id`](crate::Context::step_id).
    fn step_id(&self, place: &Place) -> String;

    /// The id of the execution, which spans carry (feature `tracing`).
    fn execution(&self) -> String;

    /// The time since the current node was first reached. It counts towards the timeout of a poll.
    fn spent_at(&self, frame: &Frame<'_>) -> Duration;

    /// Called when an attempt at the current node has failed, with its index, from 0, and the
    /// reason. Returns true if the failure is new, so that observers have to be told.
    fn attempt_failed(
        &self,
        frame: &Frame<'_>,
        attempt: u32,
        error: &(dyn Error + Send + Sync + 'static),
    ) -> bool;

    /// The attempts at the current node, which is a step, in earlier runs.
    fn attempts(&self, frame: &Frame<'_>) -> EarlierAttempts;

    /// Called when the attempt with this index was the last one at the current node, and the
    /// fallback is next.
    fn gave_up(&self, frame: &Frame<'_>, attempt: u32, error: &NodeError);

    /// Sleeps within the current node, a running step. Meanwhile the step may be dropped, and begun
    /// again later.
    fn sleep_until(&self, frame: &Frame<'_>, pause: Pause, instant: Instant) -> BoxFuture<'_, ()>;

    /// Returns true if a panic of a step is a failed attempt, instead of the end of the run.
    fn catches_panics(&self) -> bool {
        false
    }

    /// Waits until a running step may be retried, or its fallback may begin. By then, the preceding
    /// failure is stored, and the execution still belongs to this process.
    fn may_try(&self) -> BoxFuture<'_, ()>;
}

/// The reason why a running step sleeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pause {
    /// Before the attempt with this index, from 0.
    Attempt(u32),
    /// Before a poll asks again.
    Ask,
    /// Before another attempt of a poll to ask once. The count restarts if the step is begun again.
    AttemptToAsk,
}

/// The attempts at a step in earlier runs of an execution.
#[derive(Debug, Default)]
pub struct EarlierAttempts {
    /// The number of failed attempts. The next attempt continues the count.
    pub failed: u32,
    /// The node's error, if no attempt follows and the fallback had begun.
    pub given_up: Option<NodeError>,
}
