//! Retries of executions that have failed: what of the journal still counts, and what a retry
//! drops.
//!
//! A journal only grows. So a retry adds a record that names the records without which the
//! execution has not failed: those of the steps whose failures nobody has handled, of the flows,
//! forks and loops that failed with them, and of the end. Whoever replays the journal leaves them
//! out. The others are as much later as the execution stood still, so that waits and timeouts have
//! as much time left as they had.

use std::collections::{HashMap, HashSet};

use flow_runtime::engine::StepKey;
use flow_store::{ExecutionId, Record, RecordKind};
use serde_json::json;

use crate::entry::{Entry, is_end};
use crate::error::RuntimeError;

/// The records that count: without those that retries have dropped, and without the records of the
/// retries.
///
/// # Errors
///
/// [`RuntimeError::DamagedRecord`].
pub(crate) fn counting(id: ExecutionId, records: Vec<Record>) -> Result<Vec<Record>, RuntimeError> {
    if records
        .iter()
        .all(|record| record.kind != RecordKind::RunRetried)
    {
        return Ok(records);
    }
    let mut counting: Vec<Record> = Vec::with_capacity(records.len());
    for record in records {
        let Entry::RunRetried(retried) = Entry::read(id, &record) else {
            counting.push(record);
            continue;
        };
        let retried = retried.read()?;
        counting.retain(|earlier| retried.dropped.binary_search(&earlier.seq).is_err());
        for earlier in &mut counting {
            delay(id, earlier, retried.later_ms)?;
            if retried.begun_again.binary_search(&earlier.seq).is_ok() {
                begin_at(earlier, record.at_ms);
            }
        }
    }
    Ok(counting)
}

/// Makes a record later by this many milliseconds, and so the end of a wait and the time to answer.
///
/// # Errors
///
/// [`RuntimeError::DamagedRecord`].
pub(crate) fn delay(
    id: ExecutionId,
    record: &mut Record,
    later_ms: u64,
) -> Result<(), RuntimeError> {
    let renewed = match Entry::read(id, record) {
        Entry::Waiting(until) => Some(until.read()?.saturating_add(later_ms).to_string()),
        Entry::Paused(asked) => {
            let mut asked = asked.read()?;
            asked.expires_ms = asked.expires_ms.map(|it| it.saturating_add(later_ms));
            asked.expires_ms.map(|_| json!(asked).to_string())
        }
        Entry::Awaiting(awaited) => {
            let mut awaited = awaited.read()?;
            awaited.expires_ms = awaited.expires_ms.map(|it| it.saturating_add(later_ms));
            awaited.expires_ms.map(|_| json!(awaited).to_string())
        }
        _ => None,
    };
    if let Some(payload) = renewed {
        record.payload = payload;
    }
    record.at_ms = record.at_ms.saturating_add(later_ms);
    Ok(())
}

/// Lets a step or an attempt at a flow begin at this time: at its start, or at the end of the pause
/// before it.
fn begin_at(record: &mut Record, now_ms: u64) {
    record.at_ms = now_ms;
    if record.kind == RecordKind::Waiting {
        record.payload = now_ms.to_string();
    }
}

/// What a retry drops.
#[derive(Debug)]
pub(crate) struct Failures {
    /// The numbers of the records, in order.
    pub(crate) dropped: Vec<u64>,
    /// The numbers of the records with which steps began that failed, and attempts at flows that
    /// took too long, in order.
    pub(crate) begun_again: Vec<u64>,
    /// The steps of the flows, forks and loops that failed.
    pub(crate) around: HashSet<String>,
    /// The step that was undone after the failure, if there is one.
    pub(crate) undone: Option<String>,
}

impl Failures {
    /// Finds them among the [counting] records since the newest snapshot.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::DamagedRecord`].
    pub(crate) fn among(id: ExecutionId, records: &[Record]) -> Result<Self, RuntimeError> {
        let open = Open::after(records);
        // The steps and attempts at flows that failed, and those that have their time again.
        let (mut failed, mut late) = (HashSet::new(), HashSet::new());
        let mut dropped: Vec<u64> = Vec::new();
        let mut around = HashSet::new();
        for record in records.iter().filter(|record| open.has(&record.step)) {
            let step = &*record.step;
            let fails = match Entry::read(id, record) {
                Entry::FlowFailed => true,
                // A poll has a time of its own.
                Entry::NodeFailed(_) | Entry::TimedOut => {
                    late.insert(step);
                    true
                }
                Entry::Resumed(answered) => answered.read()?.timed_out,
                Entry::Received(received) => received.read()?.timed_out,
                _ => false,
            };
            if fails {
                failed.insert(step);
                dropped.push(record.seq);
            }
            if record.kind == RecordKind::FlowFailed {
                around.insert(record.step.clone());
            }
        }
        let first = dropped.first().copied();
        let undone = records.iter().find_map(|record| {
            let undone = StepKey::new(&record.step).undone()?;
            let is_later = first.is_none_or(|first| record.seq > first);
            is_later.then(|| undone.to_string())
        });
        let mut begun_again = Vec::new();
        for record in records {
            let step = StepKey::new(&record.step);
            let attempt = step.retry(record.attempt);
            let drops = match record.kind {
                RecordKind::AttemptFailed | RecordKind::GaveUp => {
                    failed.contains(step.as_str()) && !open.is_flow(step.as_str())
                        || open.is_flow(step.as_str()) && failed.contains(&*attempt)
                }
                RecordKind::Waiting | RecordKind::Waited => {
                    failed.contains(step.as_str()) && !open.is_flow(step.without_retry().as_str())
                }
                RecordKind::Paused | RecordKind::Awaiting => failed.contains(step.as_str()),
                kind => is_end(kind),
            };
            if drops {
                dropped.push(record.seq);
            }
            let begins = matches!(record.kind, RecordKind::NodeStarted | RecordKind::Waiting);
            if begins && !drops && late.contains(step.as_str()) {
                begun_again.push(record.seq);
            }
        }
        dropped.sort_unstable();
        Ok(Failures {
            dropped,
            begun_again,
            around,
            undone,
        })
    }
}

/// The steps that were not over when an execution ended.
struct Open<'a> {
    finished: HashSet<&'a str>,
    /// The flows, forks and loops that failed.
    failed: HashSet<&'a str>,
    /// The last attempt at each flow that contains steps.
    attempts: HashMap<&'a str, u32>,
}

impl<'a> Open<'a> {
    fn after(records: &'a [Record]) -> Self {
        let finished = records
            .iter()
            .filter(|record| record.kind == RecordKind::NodeFinished);
        let failed = records
            .iter()
            .filter(|record| record.kind == RecordKind::FlowFailed);
        let mut attempts = HashMap::new();
        for record in records {
            let step = StepKey::new(&record.step);
            let itself = std::iter::once(step).filter(|step| attempt_at(*step) > 0);
            for around in step.around().chain(itself) {
                let last: &mut u32 = attempts.entry(around.without_retry().as_str()).or_default();
                *last = attempt_at(around).max(*last);
            }
        }
        Open {
            finished: finished.map(|record| &*record.step).collect(),
            failed: failed.map(|record| &*record.step).collect(),
            attempts,
        }
    }

    /// Returns true if steps ran inside this one.
    fn is_flow(&self, step: &str) -> bool {
        self.attempts.contains_key(step)
    }

    /// Returns true if neither the step nor anything around it was over, and no later attempt at a
    /// flow around it was made.
    fn has(&self, step: &str) -> bool {
        let step = StepKey::new(step);
        let mut inside = None;
        std::iter::once(step).chain(step.around()).all(|around| {
            let node = around.without_retry();
            // The flow itself follows a later attempt at it.
            let is_attempt_of = inside == Some(around);
            inside = Some(node).filter(|_| attempt_at(around) > 0);
            let last = self.attempts.get(node.as_str());
            let is_last = last.is_none_or(|last| *last == attempt_at(around));
            // A loop that collects errors goes on: they are results.
            let is_collected = around
                .item()
                .is_some_and(|(each, _)| !self.failed.contains(each.as_str()));
            !self.finished.contains(around.as_str()) && (is_attempt_of || is_last) && !is_collected
        })
    }
}

/// The number of an attempt at a flow, from 0.
fn attempt_at(step: StepKey<'_>) -> u32 {
    step.segments().last().map_or(0, |last| last.retry)
}
