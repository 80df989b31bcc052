//! What a run remembers that may have lived before.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use futures_util::future::BoxFuture;

use crate::frame::{Frame, Place};

/// What a run remembers of its earlier lives, in other processes or before a crash: asked where the
/// engine itself is not.
///
/// An engine whose runs are kept gives it to
/// [`Run::with_history`](crate::engine::Run::with_history).
pub trait History: fmt::Debug + Send + Sync {
    /// What names this step among all steps of all runs:
    /// [`Context::step_id`](crate::Context::step_id).
    fn step_id(&self, place: &Place) -> String;

    /// How long ago the current node was first reached: a poll that has a timeout has used that up.
    fn spent_at(&self, frame: &Frame<'_>) -> Duration;

    /// An attempt at the current node has failed: its index, from 0, and why. Returns whether that
    /// is new, so that observers are to be told.
    fn attempt_failed(
        &self,
        frame: &Frame<'_>,
        attempt: u32,
        error: &(dyn Error + Send + Sync + 'static),
    ) -> bool;

    /// Returns when a step that is under way may be tried again, or its fallback begin: when the
    /// run still belongs to this process.
    fn may_try(&self) -> BoxFuture<'_, ()>;
}
