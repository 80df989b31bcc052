//! Why executions could not continue here, and since when.

use std::collections::HashMap;
use std::time::Duration;

use flow_store::ExecutionId;
use tokio::time::Instant;

use crate::error::RuntimeError;

/// Why somebody looks for work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// The program asks for it.
    Asked,
    /// It is time to.
    Timed,
    /// There may be something new. Whoever looks may have caused that by itself.
    Hinted,
}

/// Why executions could not continue here.
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

    /// Those that this process has tried to continue, and why it could not.
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

    /// Returns true if this look is no reason to try again: only a program that asks for it is one,
    /// or, if the store has failed, some time. To give an execution up is a hint, and who follows
    /// it at once repeats the step for as long as the store refuses its outcome.
    pub(crate) fn keeps_out(&self, id: &ExecutionId, look: Look, pause: Duration) -> bool {
        let Some(Halt { error, at }) = self.0.get(id) else {
            return false;
        };
        match (look, error) {
            (Look::Asked, _) => false,
            // Of one that is halted, the store says whether it is due.
            (_, RuntimeError::TakenOver(_) | RuntimeError::Halted { .. }) => false,
            (_, RuntimeError::Store { .. }) if error.damaged().is_some() => true,
            (Look::Timed, RuntimeError::Store { .. }) => false,
            (Look::Hinted, RuntimeError::Store { .. }) => at.elapsed() < pause,
            _ => true,
        }
    }
}
