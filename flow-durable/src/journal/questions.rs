//! The questions that a run waits for.

use std::future::{Future, poll_fn};
use std::task::{Poll, Waker};

use flow_runtime::engine::{Place, StepKey};
use flow_store::{PauseRow, PauseState, Settlement, Token};

use crate::journal::Journal;

#[derive(Default)]
pub(super) struct Asking {
    expires_ms: Option<u64>,
    pub(super) settled: Option<Settlement>,
    waker: Option<Waker>,
}

impl Journal {
    /// The question that was asked at a visit in an earlier run of the execution.
    pub(crate) fn open_question(&self, place: &Place) -> Option<PauseRow> {
        let state = self.state();
        let found = state.open.iter().find(|row| row.step == place.step);
        found.cloned()
    }

    /// Asks a question. It is stored together with the next records.
    pub(crate) fn add_question(&self, row: PauseRow) {
        self.state().pending.opened.push(row);
    }

    /// Keeps a question open until the guard is dropped. The guard is created before the question
    /// is stored: if the run is dropped while it is being stored, for instance because a branch
    /// fails, the question is closed as well.
    pub(crate) fn asking(&self, token: Token) -> AskingGuard<'_> {
        AskingGuard {
            journal: self,
            token,
        }
    }

    /// Closes the questions inside a step that is over, or was dropped. An earlier run of the
    /// execution asked them, and this one has not come to them.
    pub(crate) fn close_inside(&self, place: &Place) {
        let mut state = self.state();
        if state.open.is_empty() {
            return;
        }
        let around = StepKey::new(&place.step);
        let (over, open) = std::mem::take(&mut state.open)
            .into_iter()
            .partition(|row| StepKey::new(&row.step).is_inside(around));
        state.open = open;
        let over: Vec<PauseRow> = over;
        let tokens = over.into_iter().map(|row| row.token);
        state.pending.closed.extend(tokens);
    }

    /// Returns true if the run waits for an answer to this question.
    pub(crate) fn is_asked(&self, token: Token) -> bool {
        let state = self.state();
        let asking = state.questions.get(&token);
        asking.is_some_and(|asking| asking.settled.is_none())
    }

    /// The tokens of the questions whose answers the run waits for.
    pub(crate) fn asked(&self) -> Vec<Token> {
        let state = self.state();
        let asked = state
            .questions
            .iter()
            .filter(|(_, asking)| asking.settled.is_none());
        asked.map(|(token, _)| *token).collect()
    }

    /// Passes on the outcome of a question.
    pub(crate) fn settle(&self, token: Token, settlement: Settlement) {
        if let Some(asking) = self.state().questions.get_mut(&token)
            && asking.settled.is_none()
        {
            asking.settled = Some(settlement);
            if let Some(waker) = asking.waker.take() {
                waker.wake();
            }
        }
    }

    /// The answers and signals for which the run waits.
    pub(crate) fn awaited_outside(&self) -> Outside {
        let state = self.state();
        let waiting = state
            .questions
            .values()
            .filter(|asking| asking.settled.is_none());
        let expiries = waiting.clone().filter_map(|asking| asking.expires_ms);
        Outside {
            is_awaited: state.waits_for_outside(),
            next_expiry_ms: expiries.chain(state.signals.next_expiry_ms()).min(),
        }
    }

    /// The tokens of the questions that have expired at this time.
    pub(crate) fn expired(&self, now_ms: u64) -> Vec<Token> {
        let state = self.state();
        let expired = state.questions.iter().filter(|(_, asking)| {
            asking.settled.is_none() && asking.expires_ms.is_some_and(|expires| expires <= now_ms)
        });
        expired.map(|(token, _)| *token).collect()
    }
}

/// The answers and signals for which a run waits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outside {
    /// True if it waits for anything.
    pub(crate) is_awaited: bool,
    /// The time at which the first of these waits ends.
    pub(crate) next_expiry_ms: Option<u64>,
}

/// A waiter for an answer. The wait starts when the question is stored.
pub(crate) struct AskingGuard<'a> {
    journal: &'a Journal,
    token: Token,
}

impl AskingGuard<'_> {
    /// Waits for the outcome of the question.
    pub(crate) fn settled(
        &self,
        expires_ms: Option<u64>,
    ) -> impl Future<Output = Settlement> + Send {
        let mut state = self.journal.state();
        let known = state.open.iter().find(|row| row.token == self.token);
        let settled = match known.map(|row| &row.state) {
            Some(PauseState::Answered(answer)) => Some(Settlement::Answer(answer.clone())),
            Some(PauseState::TimedOut) => Some(Settlement::TimedOut),
            _ => None,
        };
        let asking = Asking {
            expires_ms,
            settled,
            waker: None,
        };
        state.questions.entry(self.token).or_insert(asking);
        drop(state);
        poll_fn(|cx| {
            let mut state = self.journal.state();
            let asking = state.questions.entry(self.token).or_default();
            match &asking.settled {
                Some(settlement) => Poll::Ready(settlement.clone()),
                None => {
                    asking.waker = Some(cx.waker().clone());
                    Poll::Pending
                }
            }
        })
    }
}

/// Closes the question with the next records: it has been answered, or is no longer asked. A run
/// that only pauses drops its unwritten records, so its questions stay open.
impl Drop for AskingGuard<'_> {
    fn drop(&mut self) {
        let mut state = self.journal.state();
        state.questions.remove(&self.token);
        state.pending.closed.push(self.token);
    }
}
