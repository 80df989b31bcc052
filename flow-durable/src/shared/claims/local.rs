//! The executions that this process has to do with, as far as the process itself knows.
//!
//! An execution runs here, or has failed to continue here, or neither: never both. Beside that, the
//! process may have a claim that it does not use, or watch the claim of another process. All of it
//! is behind one lock, so each transition is seen as a whole.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use flow_store::{Claim, ExecutionId};
use tokio::time::Instant;

use super::ActiveRun;
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

/// An execution in this process.
#[derive(Default)]
pub(super) struct Local {
    pub(super) run: Run,
    /// The fence of a claim that is to be given up.
    pub(super) unreleased: Option<u64>,
    /// The claim that the last renewal found although nothing runs with it.
    pub(super) unknown: Option<UnknownClaim>,
    /// The claim that is ahead of this clock.
    pub(super) watched: Option<WatchedClaim>,
}

/// The run of an execution in this process.
#[derive(Default)]
pub(super) enum Run {
    #[default]
    None,
    Running(Arc<ActiveRun>),
    Halted(Halt),
}

/// An error that kept an execution from continuing here, with its time.
pub(super) struct Halt {
    pub(super) error: RuntimeError,
    at: Instant,
}

/// A claim of this process to an execution that it does not run.
#[derive(Debug, Clone, Copy)]
pub(super) struct UnknownClaim {
    pub(super) fence: u64,
    /// The number of the next call that makes claims, at the time this was seen.
    pub(super) next_call: u64,
}

/// A claim whose holder may be gone.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WatchedClaim {
    pub(crate) claim: Claim,
    /// The time since which the claim has been unchanged.
    pub(crate) since: Instant,
}

impl Local {
    pub(super) fn running(&self) -> Option<&Arc<ActiveRun>> {
        match &self.run {
            Run::Running(run) => Some(run),
            Run::None | Run::Halted(_) => None,
        }
    }

    pub(super) fn halt(&self) -> Option<&Halt> {
        match &self.run {
            Run::Halted(halt) => Some(halt),
            Run::None | Run::Running(_) => None,
        }
    }

    fn is_empty(&self) -> bool {
        matches!(self.run, Run::None)
            && self.unreleased.is_none()
            && self.unknown.is_none()
            && self.watched.is_none()
    }
}

impl Halt {
    pub(super) fn new(error: RuntimeError) -> Self {
        let at = Instant::now();
        Halt { error, at }
    }

    /// Returns true if the process tried and failed to continue the execution.
    pub(super) fn is_refusal(&self) -> bool {
        !matches!(
            self.error,
            RuntimeError::TakenOver(_) | RuntimeError::ShutDown(_) | RuntimeError::TaskEnded(_)
        )
    }

    /// Returns true if this look is not a reason to retry. A reason is a request of the program or,
    /// if the store has failed, some time. Giving up an execution is a hint too: following it at
    /// once would repeat the step for as long as the store refuses its outcome.
    pub(super) fn keeps_out(&self, look: Look, pause: Duration) -> bool {
        match (look, &self.error) {
            (Look::Asked, _) => false,
            // The store knows whether a halted execution is due.
            (_, RuntimeError::TakenOver(_) | RuntimeError::Halted { .. }) => false,
            (_, RuntimeError::Store { .. }) if self.error.damaged().is_some() => true,
            (Look::Timed, RuntimeError::Store { .. }) => false,
            (Look::Hinted, RuntimeError::Store { .. }) => self.at.elapsed() < pause,
            _ => true,
        }
    }
}

/// The executions that this process has to do with. The others have no entry.
#[derive(Default)]
pub(super) struct Locals {
    all: HashMap<ExecutionId, Local>,
    /// The number of halted ones.
    halts: usize,
}

impl Locals {
    pub(super) fn get(&self, id: ExecutionId) -> Option<&Local> {
        self.all.get(&id)
    }

    pub(super) fn running(&self, id: ExecutionId) -> Option<&Arc<ActiveRun>> {
        self.get(id).and_then(Local::running)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (ExecutionId, &Local)> {
        self.all.iter().map(|(id, local)| (*id, local))
    }

    pub(super) fn any_halted(&self) -> bool {
        self.halts > 0
    }

    /// Changes one execution.
    pub(super) fn change<T>(&mut self, id: ExecutionId, change: impl FnOnce(&mut Local) -> T) -> T {
        let local = self.all.entry(id).or_default();
        let halted_before = local.halt().is_some();
        let changed = change(local);
        self.halts += usize::from(local.halt().is_some());
        self.halts -= usize::from(halted_before);
        if local.is_empty() {
            self.all.remove(&id);
        }
        changed
    }

    /// Changes all that have an entry.
    pub(super) fn change_all(&mut self, mut change: impl FnMut(ExecutionId, &mut Local)) {
        self.all.retain(|id, local| {
            change(*id, local);
            !local.is_empty()
        });
        let halted = self.all.values().filter(|local| local.halt().is_some());
        self.halts = halted.count();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u128) -> ExecutionId {
        uuid::Uuid::from_u128(number).into()
    }

    #[test]
    fn halted_executions_are_counted_and_forgotten() {
        let mut locals = Locals::default();
        for number in [1, 1, 2] {
            locals.change(id(number), |local| {
                let error = RuntimeError::TaskEnded(id(number));
                local.run = Run::Halted(Halt::new(error));
            });
        }
        locals.change(id(1), |local| local.unreleased = Some(7));
        assert_eq!(locals.halts, 2);
        locals.change(id(2), |local| local.run = Run::None);
        assert_eq!((locals.halts, locals.iter().count()), (1, 1));
        locals.change_all(|_, local| local.run = Run::None);
        assert!(!locals.any_halted());
        let unreleased = locals.get(id(1)).and_then(|local| local.unreleased);
        assert_eq!(unreleased, Some(7), "its claim is still to be given up");
        locals.change_all(|_, local| local.unreleased = None);
        assert_eq!(locals.iter().count(), 0);
    }
}
