//! The errors that kept executions from continuing here, with their times.

use std::collections::HashMap;
use std::time::Duration;

use flow_store::ExecutionId;
use tokio::time::Instant;

use crate::error::RuntimeError;

/// The reason for a look for work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// The program asks for it.
    Asked,
    /// The interval has passed.
    Timed,
    /// There may be something new. The process itself may have caused the hint.
    Hinted,
}

/// The errors that kept executions from continuing here.
#[derive(Debug, Default)]
pub(crate) struct Halts(HashMap<ExecutionId, Halt>);

#[derive(Debug)]
struct Halt {
    error: RuntimeError,
    at: Instant,
}

impl Halts {
    pub(crate) fn insert(&mut self, id: ExecutionId, error: RuntimeError) {
        let at = Instant::now();
        self.0.insert(id, Halt { error, at });
    }

    pub(crate) fn remove(&mut self, id: &ExecutionId) {
        self.0.remove(id);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn get(&self, id: &ExecutionId) -> Option<&RuntimeError> {
        self.0.get(id).map(|halt| &halt.error)
    }

    /// The executions that this process tried and failed to continue, with the errors.
    pub(crate) fn refused(&self) -> Vec<(ExecutionId, RuntimeError)> {
        let is_refusal = |error: &RuntimeError| {
            !matches!(
                error,
                RuntimeError::TakenOver(_) | RuntimeError::ShutDown(_) | RuntimeError::TaskEnded(_)
            )
        };
        let all = self.0.iter().map(|(id, halt)| (*id, &halt.error));
        let refused = all.filter(|(_, error)| is_refusal(error));
        refused.map(|(id, error)| (id, error.clone())).collect()
    }

    pub(crate) fn retain(&mut self, keeps: impl Fn(&RuntimeError) -> bool) {
        self.0.retain(|_, halt| keeps(&halt.error));
    }

    /// Returns true if this look is not a reason to retry. A reason is a request of the program or,
    /// if the store has failed, some time. Giving up an execution is a hint too: following it at
    /// once would repeat the step for as long as the store refuses its outcome.
    pub(crate) fn keeps_out(&self, id: &ExecutionId, look: Look, pause: Duration) -> bool {
        let Some(Halt { error, at }) = self.0.get(id) else {
            return false;
        };
        match (look, error) {
            (Look::Asked, _) => false,
            // The store knows whether a halted execution is due.
            (_, RuntimeError::TakenOver(_) | RuntimeError::Halted { .. }) => false,
            (_, RuntimeError::Store { .. }) if error.damaged().is_some() => true,
            (Look::Timed, RuntimeError::Store { .. }) => false,
            (Look::Hinted, RuntimeError::Store { .. }) => at.elapsed() < pause,
            _ => true,
        }
    }
}
