//! The signals of an execution in memory.

use std::collections::{BTreeMap, HashMap};

use super::contents::Execution;
use crate::refusal;
use crate::{CANCEL, ExecutionId, NewSignal, Sent, SignalRow, Status, StoreError};

#[derive(Default)]
pub(super) struct Signals {
    /// The number of the newest signal that ever existed.
    newest: u64,
    /// The signals that the run has not taken, by number.
    waiting: BTreeMap<u64, SignalRow>,
    /// The number and the digest of each signal with a key, taken or not.
    keys: HashMap<String, (u64, String)>,
    /// The names of the signals for which a paused execution waits.
    pub(super) awaited: Vec<String>,
}

impl Signals {
    pub(super) fn waiting(&self) -> Vec<SignalRow> {
        self.waiting.values().cloned().collect()
    }

    /// Returns `true` if one of those for which the execution waits is there.
    pub(super) fn has_awaited(&self) -> bool {
        let is_awaited = |signal: &SignalRow| self.awaited.contains(&signal.name);
        !self.awaited.is_empty() && self.waiting.values().any(is_awaited)
    }

    /// Refuses to take what is not there, or one twice.
    pub(super) fn check(&self, id: ExecutionId, taken: &[u64]) -> Result<(), StoreError> {
        for (index, number) in taken.iter().enumerate() {
            if !self.waiting.contains_key(number) || taken[..index].contains(number) {
                return Err(refusal::not_a_signal(id, *number));
            }
        }
        Ok(())
    }

    pub(super) fn take(&mut self, taken: &[u64]) {
        for number in taken {
            self.waiting.remove(number);
        }
    }

    fn add(&mut self, signal: NewSignal) -> u64 {
        self.newest += 1;
        let number = self.newest;
        if let Some(key) = &signal.key {
            self.keys.insert(key.clone(), (number, signal.digest));
        }
        let row = SignalRow {
            number,
            name: signal.name,
            payload: signal.payload,
            key: signal.key,
            sent_ms: signal.now_ms,
        };
        self.waiting.insert(number, row);
        number
    }
}

impl Execution {
    pub(super) fn signal(&mut self, signal: NewSignal) -> Sent {
        let key = signal.key.as_ref();
        if let Some((number, digest)) = key.and_then(|key| self.signals.keys.get(key)) {
            return Sent::Existing {
                number: *number,
                digest: digest.clone(),
            };
        }
        if self.row.status.is_over() {
            return Sent::Over(self.row.status);
        }
        let now_ms = signal.now_ms;
        self.row.updated_ms = now_ms;
        if signal.name == CANCEL {
            self.row.cancelled_ms = Some(now_ms);
        }
        if self.signals.awaited.contains(&signal.name) {
            self.resume_from(now_ms);
        }
        Sent::New(self.signals.add(signal))
    }

    /// Sets the names of the signals for which it waits, after a write with this status.
    pub(super) fn wait_for(&mut self, awaited: Vec<String>, status: Option<Status>, now_ms: u64) {
        if self.row.status != Status::Paused {
            self.signals.awaited.clear();
        } else if status.is_some() || !awaited.is_empty() {
            self.signals.awaited = awaited;
        }
        if self.signals.has_awaited() {
            self.resume_from(now_ms);
        }
    }

    fn resume_from(&mut self, ms: u64) {
        self.timer_ms = Some(self.timer_ms.map_or(ms, |timer_ms| timer_ms.min(ms)));
    }
}
