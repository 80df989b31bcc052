//! The facts about the invocation that a step can query.

use std::error::Error;
use std::future::ready;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use flow_runtime::NodeError;
use flow_runtime::engine::{EarlierAttempts, Frame, History, Pause, Place};

use crate::operations::Operations;

/// A run. Attempts at steps in earlier processes are unknown: the server keeps only outcomes.
#[derive(Debug)]
pub(crate) struct RunHistory {
    /// The id of the invocation, and a random number.
    pub(crate) id: Arc<str>,
    pub(crate) operations: Operations,
}

impl History for RunHistory {
    fn step_id(&self, place: &Place) -> String {
        format!("{}/{}", self.id, place.step)
    }

    fn execution(&self) -> String {
        self.id.to_string()
    }

    fn spent_at(&self, _frame: &Frame<'_>) -> Duration {
        Duration::ZERO
    }

    fn attempt_failed(
        &self,
        _frame: &Frame<'_>,
        _attempt: u32,
        _error: &(dyn Error + Send + Sync + 'static),
    ) -> bool {
        !self.operations.is_replaying()
    }

    fn attempts(&self, _frame: &Frame<'_>) -> EarlierAttempts {
        EarlierAttempts::default()
    }

    fn gave_up(&self, _frame: &Frame<'_>, _attempt: u32, _error: &NodeError) {}

    fn sleep_until(
        &self,
        _frame: &Frame<'_>,
        _pause: Pause,
        instant: tokio::time::Instant,
    ) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(tokio::time::sleep_until(instant))
    }

    fn may_try(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(ready(()))
    }
}
