//! What is known of the earlier runs of an execution.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use tokio::time::Instant;

use futures_util::future::BoxFuture;

use crate::frame::{Frame, Place};
use crate::node_error::NodeError;

/// What is known of the earlier runs of an execution, in other processes or before a crash. The run
/// asks it in places where it has no access to the engine.
///
/// An engine that keeps executions passes it to
/// [`Run::with_history`](crate::engine::Run::with_history).
pub trait History: fmt::Debug + Send + Sync {
    /// The name of this step among all steps of all executions:
    /// [`Context::step_id`](crate::Context::step_id).
    fn step_id(&self, place: &Place) -> String;

    /// The id of the execution, which spans carry (feature `tracing`).
    fn execution(&self) -> String;

    /// How long ago the current node was first reached. A poll with a timeout has used up this much
    /// of it.
    fn spent_at(&self, frame: &Frame<'_>) -> Duration;

    /// Called when an attempt at the current node has failed, with its index, from 0, and the
    /// reason. Returns true if this is new, so that observers are to be told.
    fn attempt_failed(
        &self,
        frame: &Frame<'_>,
        attempt: u32,
        error: &(dyn Error + Send + Sync + 'static),
    ) -> bool;

    /// The attempts at the current node, which is a step, in earlier runs.
    fn attempts(&self, frame: &Frame<'_>) -> EarlierAttempts;

    /// Called when no attempt at the current node follows this one, with its index, and the fallback
    /// is next.
    fn gave_up(&self, frame: &Frame<'_>, attempt: u32, error: &NodeError);

    /// Sleeps within the current node, a running step. The step may be dropped meanwhile, and begun
    /// again then.
    fn sleep_until(&self, frame: &Frame<'_>, pause: Pause, instant: Instant) -> BoxFuture<'_, ()>;

    /// Returns true if a panic of a step is a failed attempt, and not the end of the run.
    fn catches_panics(&self) -> bool {
        false
    }

    /// Returns when a running step may be tried again, or its fallback may begin: when the failure
    /// before that is stored, and the execution still belongs to this process.
    fn may_try(&self) -> BoxFuture<'_, ()>;
}

/// Why a running step sleeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pause {
    /// Before the attempt with this index, from 0.
    Attempt(u32),
    /// Before a poll asks again.
    Ask,
    /// Before another attempt of a poll to ask once. These attempts are counted anew if the step is
    /// begun again.
    AttemptToAsk,
}

/// The attempts at a step in earlier runs of an execution.
#[derive(Debug, Default)]
pub struct EarlierAttempts {
    /// The number of those that failed. The next attempt continues the count.
    pub failed: u32,
    /// The node's error, if no other attempt follows and the fallback had begun.
    pub given_up: Option<NodeError>,
}
