//! The turns of steps: a run has one transaction at a time.

use std::mem;
use std::task::Waker;

use flow_store::StoreTransaction;

/// The transaction of a run.
#[derive(Default)]
pub(super) enum OfStep {
    /// No transaction is open.
    #[default]
    Free,
    /// This step runs in it.
    Runs(String),
    /// This step has returned its value, which is not recorded yet.
    Ended(String, Box<dyn StoreTransaction>),
    /// The outcome is among the pending records.
    Recorded(Box<dyn StoreTransaction>),
}

/// The transaction of a run, and the steps that wait for their turn.
#[derive(Default)]
pub(super) struct Turns {
    pub(super) of_step: OfStep,
    pub(super) waiting: Vec<Waker>,
}

impl Turns {
    /// Returns true if nothing may be written now.
    pub(super) fn keep_writes(&self) -> bool {
        matches!(self.of_step, OfStep::Runs(_) | OfStep::Ended(..))
    }

    pub(super) fn free(&mut self) -> Option<Box<dyn StoreTransaction>> {
        self.waiting.drain(..).for_each(Waker::wake);
        match mem::take(&mut self.of_step) {
            OfStep::Ended(_, transaction) | OfStep::Recorded(transaction) => Some(transaction),
            OfStep::Free | OfStep::Runs(_) => None,
        }
    }

    /// The transaction in which to write the pending records, if there is one.
    pub(super) fn take(&mut self) -> Option<Box<dyn StoreTransaction>> {
        match self.of_step {
            OfStep::Recorded(_) => self.free(),
            OfStep::Free | OfStep::Runs(_) | OfStep::Ended(..) => None,
        }
    }
}
