//! The signals that a run waits for and takes.
//!
//! A signal is taken when the record with it is stored: the store removes it with that write. Until
//! then, a step that has it and is dropped leaves it to the next one.

use std::collections::{BTreeMap, BTreeSet};
use std::future::{Future, poll_fn};
use std::task::{Poll, Waker};

use flow_store::SignalRow;

use super::{Journal, NewRecord};
use crate::replay::CANCEL;

/// The steps of a run that wait for signals.
#[derive(Default)]
pub(super) struct Signals {
    /// By number, in the order in which they began to wait.
    receivers: BTreeMap<u64, Receiver>,
    next: u64,
    /// The numbers of the signals that a step has, or that the run has taken.
    held: BTreeSet<u64>,
    /// The cancellation that was there when the run was loaded, before anybody waited for it.
    cancellation: Option<SignalRow>,
}

/// A step that waits for a signal.
struct Receiver {
    name: String,
    expires_ms: Option<u64>,
    found: Option<Found>,
    waker: Option<Waker>,
}

/// The end of a wait for a signal.
#[derive(Debug, Clone)]
pub(crate) enum Found {
    Signal(SignalRow),
    TimedOut,
}

impl Signals {
    fn waiting(&self) -> impl Iterator<Item = &Receiver> {
        self.receivers.values().filter(|it| it.found.is_none())
    }

    /// The number of waiting steps.
    pub(super) fn open(&self) -> usize {
        self.waiting().filter(|it| it.name != CANCEL).count()
    }

    /// Returns true if a step has a signal that it has not used.
    pub(super) fn has_found(&self) -> bool {
        self.receivers.values().any(|it| it.found.is_some())
    }

    /// The first time at which a wait ends.
    pub(super) fn next_expiry_ms(&self) -> Option<u64> {
        self.waiting().filter_map(|it| it.expires_ms).min()
    }

    fn deliver(&mut self, signals: Vec<SignalRow>, now_ms: u64) {
        let waiting = self.receivers.values_mut();
        let mut waiting: Vec<_> = waiting.filter(|it| it.found.is_none()).collect();
        for signal in signals {
            if self.held.contains(&signal.number) {
                continue;
            }
            let receiver = waiting.iter_mut().find(|it| it.name == signal.name);
            if let Some(receiver) = receiver.filter(|it| it.found.is_none()) {
                self.held.insert(signal.number);
                receiver.find(Found::Signal(signal));
            }
            waiting.retain(|it| it.found.is_none());
        }
        for receiver in waiting {
            if receiver.expires_ms.is_some_and(|at| at <= now_ms) {
                receiver.find(Found::TimedOut);
            }
        }
    }
}

impl Receiver {
    fn find(&mut self, found: Found) {
        self.found = Some(found);
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

impl Journal {
    /// Waits for a signal of this name until the result is dropped. The driver looks for one.
    pub(crate) fn receiving(&self, name: &str, expires_ms: Option<u64>) -> Receiving<'_> {
        let mut state = self.state();
        let number = state.signals.next;
        state.signals.next += 1;
        let known = (name == CANCEL).then(|| state.signals.cancellation.take());
        let known = known.flatten();
        state
            .signals
            .held
            .extend(known.as_ref().map(|it| it.number));
        let receiver = Receiver {
            name: name.to_owned(),
            expires_ms,
            found: known.map(Found::Signal),
            waker: None,
        };
        state.signals.receivers.insert(number, receiver);
        state.looks.want();
        Receiving {
            journal: self,
            number,
        }
    }

    /// Notes the signal with which the execution was cancelled before it was loaded.
    pub(crate) fn cancelled_by(&self, cancellation: Option<SignalRow>) {
        self.state().signals.cancellation = cancellation;
    }

    /// The names of the signals for which steps wait.
    pub(crate) fn awaited_signals(&self) -> Vec<String> {
        let state = self.state();
        let names: BTreeSet<&String> = state.signals.waiting().map(|it| &it.name).collect();
        names.into_iter().cloned().collect()
    }

    /// Returns true if the run can be cancelled by a signal.
    pub(crate) fn awaits_cancellation(&self) -> bool {
        let state = self.state();
        state.signals.waiting().any(|it| it.name == CANCEL)
    }

    /// Passes on signals, which were read at this time: each to the first step that waits for one of
    /// its name. Ends the waits that were over then.
    pub(crate) fn deliver(&self, signals: Vec<SignalRow>, now_ms: u64) {
        self.state().signals.deliver(signals, now_ms);
    }
}

/// A step that waits for a signal.
pub(crate) struct Receiving<'a> {
    journal: &'a Journal,
    number: u64,
}

impl Receiving<'_> {
    /// Returns when there is a signal, or when the wait is over.
    pub(crate) fn found(&self) -> impl Future<Output = Found> + Send {
        poll_fn(|cx| {
            let mut state = self.journal.state();
            let receiver = state.signals.receivers.get_mut(&self.number);
            let receiver = receiver.unwrap_or_else(|| unreachable!("it waits until it is dropped"));
            match &receiver.found {
                Some(found) => Poll::Ready(found.clone()),
                None => {
                    receiver.waker = Some(cx.waker().clone());
                    Poll::Pending
                }
            }
        })
    }

    /// Records what was found. A signal is taken with this record.
    pub(crate) fn record(self, entry: NewRecord<'_>) {
        self.journal.add_urgent(entry);
        let mut state = self.journal.state();
        let receiver = state.signals.receivers.remove(&self.number);
        if let Some(Found::Signal(signal)) = receiver.and_then(|it| it.found) {
            state.pending.taken.push(signal.number);
        }
    }
}

/// Leaves a signal that was not recorded to the next step.
impl Drop for Receiving<'_> {
    fn drop(&mut self) {
        let mut state = self.journal.state();
        let receiver = state.signals.receivers.remove(&self.number);
        if let Some(Found::Signal(signal)) = receiver.and_then(|it| it.found) {
            state.signals.held.remove(&signal.number);
            state.looks.want();
        }
    }
}
