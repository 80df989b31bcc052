//! Looks into the store for what comes from outside while a run is in memory: answers and signals.

use std::future::poll_fn;
use std::task::{Poll, Waker};

use super::Journal;

/// The looks of a run.
#[derive(Default)]
pub(super) struct Looks {
    /// True if somebody waits for a look that has not begun.
    is_wanted: bool,
    begun: u64,
    /// The number of looks that are over: all that have begun, or all but one.
    done: u64,
    waiting: Vec<Waker>,
}

impl Looks {
    /// Wants a look that begins from now on.
    pub(super) fn want(&mut self) {
        self.is_wanted = true;
    }
}

impl Journal {
    /// Returns true if there should be a look now.
    pub(crate) fn wants_look(&self) -> bool {
        self.state().looks.is_wanted
    }

    /// Notes that a look begins.
    pub(crate) fn begin_look(&self) {
        let looks = &mut self.state().looks;
        looks.is_wanted = false;
        looks.begun += 1;
    }

    /// Notes that the look is over, and what it found is passed on.
    pub(crate) fn end_look(&self) {
        let mut state = self.state();
        state.looks.done = state.looks.begun;
        let waiting = std::mem::take(&mut state.looks.waiting);
        drop(state);
        waiting.into_iter().for_each(Waker::wake);
    }

    /// Lets steps that wait for something from outside have what had come before now, and go on with
    /// it. So the end of a pause beside them does not drop an answer that was accepted.
    pub(crate) async fn let_others_have_mail(&self) {
        // The branches behind this one may not wait yet.
        yielded().await;
        let mut wanted = None;
        let mut has_waited = false;
        poll_fn(|cx| {
            let mut state = self.state();
            let looks = &state.looks;
            let wanted = *wanted.get_or_insert(looks.begun + 1);
            if looks.done >= wanted || !state.waits_for_outside() {
                return Poll::Ready(());
            }
            has_waited = true;
            state.looks.want();
            state.looks.waiting.push(cx.waker().clone());
            Poll::Pending
        })
        .await;
        if has_waited {
            yielded().await;
        }
    }
}

/// Lets everything else in the run be polled once.
async fn yielded() {
    let mut has_yielded = false;
    poll_fn(|cx| {
        if has_yielded {
            return Poll::Ready(());
        }
        has_yielded = true;
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
