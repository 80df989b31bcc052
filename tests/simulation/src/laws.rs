//! What has to hold of a case, whatever happens to it.

use std::collections::{BTreeMap, BTreeSet};

use flow_durable::{ExecutionId, Payload, Record, RecordKind, SignalRow};
use serde_json::Value;

use crate::process::told;
use crate::world::{Given, world};

/// Notes a violation.
fn violated(message: String) {
    world(|world| world.violations.push(message));
}

/// What has an outcome in this journal must not run again, unless a retry has dropped it.
pub(crate) fn stored(id: ExecutionId, now: &[Record]) {
    for record in counting(id, now.to_vec()) {
        let kinds = [RecordKind::Outcome, RecordKind::NodeFailed];
        if kinds.contains(&record.kind) {
            world(|world| world.done.insert(format!("{id}/{}", record.step)));
        }
    }
}

/// A process was stopped with this journal: what has an outcome must not run again, and nothing of it may be lost.
pub(crate) fn stopped(id: ExecutionId, before: &mut Vec<Record>, now: Vec<Record>, pruned: bool) {
    stored(id, &now);
    if !pruned && !now.starts_with(before) {
        violated("records that were stored are no longer there".to_owned());
    }
    *before = now;
}

/// The records without those that retries have dropped, numbered again.
pub(crate) fn counting(id: ExecutionId, records: Vec<Record>) -> Vec<Record> {
    let retries = records
        .iter()
        .filter(|record| record.kind == RecordKind::RunRetried);
    let dropped = retries.flat_map(|retry| {
        let dropped = Payload::of(id, retry).dropped();
        dropped.unwrap_or_else(|error| {
            violated(format!("it is not known what was dropped: {error}"));
            Vec::new()
        })
    });
    let dropped: BTreeSet<u64> = dropped.collect();
    let first = records.first().map_or(0, |first| first.seq);
    let counting = records
        .into_iter()
        .filter(|record| !dropped.contains(&record.seq) && record.kind != RecordKind::RunRetried);
    let numbered = (first..).zip(counting);
    numbered
        .map(|(seq, record)| Record { seq, ..record })
        .collect()
}

/// A journal is sound in itself. If the flow has versions, a step may be reached again behind a
/// snapshot: one version had begun it, and another came to a node before it.
pub(crate) fn journal(records: &[Record], has_versions: bool) {
    let first = records.first().map_or(0, |first| first.seq);
    let mut outcomes = BTreeSet::new();
    let mut starts = BTreeSet::new();
    let mut ended: Vec<&Record> = Vec::new();
    for (seq, record) in (first..).zip(records) {
        if record.seq != seq {
            violated(format!("record {} stands where {seq} should", record.seq));
            return;
        }
        let step = record.step.as_str();
        // What is inside is undone later, or when it fails.
        let is_undo = record.step.contains("!undo");
        let late = ended.iter().find(|end| !is_undo && is_over(end, record));
        if let Some(end) = late {
            violated(format!(
                "record {seq}, `{}` of `{step}`, comes after record {}, `{}` of `{}`",
                record.kind, end.seq, end.kind, end.step
            ));
        }
        match record.kind {
            RecordKind::Outcome
            | RecordKind::NodeFailed
            | RecordKind::Resumed
            | RecordKind::Received
                if !outcomes.insert(step) =>
            {
                violated(format!("`{step}` has two outcomes"));
            }
            RecordKind::NodeStarted if !starts.insert(step) => {
                violated(format!("`{step}` was reached twice"));
            }
            RecordKind::NodeFinished | RecordKind::FlowFailed | RecordKind::TimedOut => {
                ended.push(record);
            }
            RecordKind::Snapshot if has_versions => starts.clear(),
            _ => {}
        }
    }
}

/// The journal of an execution that is over has its end.
pub(crate) fn ended(records: &[Record]) {
    let last = records.last().map(|last| last.kind);
    let ends = [
        RecordKind::RunCompleted,
        RecordKind::RunFailed,
        RecordKind::RunCancelled,
    ];
    if last.is_none_or(|last| !ends.contains(&last)) {
        violated(format!("it is over, and its last record is {last:?}"));
    }
}

/// Whether a record is of something that had ended by another one.
fn is_over(end: &Record, record: &Record) -> bool {
    let Some(rest) = record.step.strip_prefix(&end.step) else {
        return false;
    };
    let inside = rest.starts_with(['.', '[']);
    match end.kind {
        RecordKind::NodeFinished => inside || rest.is_empty() || rest.starts_with('~'),
        _ => inside,
    }
}

/// The steps, and the attempts at flows, that took too long.
pub(crate) fn timed_out<'a>(records: &[&'a Record]) -> BTreeSet<&'a str> {
    let timed_out = records.iter().filter(|record| match record.kind {
        RecordKind::TimedOut => true,
        RecordKind::Resumed | RecordKind::Received => record.payload == r#"{"timedOut":true}"#,
        _ => false,
    });
    timed_out.map(|record| record.step.as_str()).collect()
}

/// The outcomes of a journal, by step.
fn outcomes<'a>(records: &[&'a Record]) -> BTreeMap<&'a str, (RecordKind, &'a str)> {
    let outcomes = records.iter().filter(|record| {
        matches!(
            record.kind,
            RecordKind::Outcome
                | RecordKind::NodeFailed
                | RecordKind::Resumed
                | RecordKind::Received
        )
    });
    outcomes
        .map(|record| {
            // What an error says of itself may differ: which of several that fail at the same time
            // came first.
            let payload = match record.kind {
                RecordKind::NodeFailed => "",
                // The number counts the signals of other names as well.
                RecordKind::Received => record.payload.split(",\"number\"").next().unwrap_or(""),
                _ => record.payload.as_str(),
            };
            (record.step.as_str(), (record.kind, payload))
        })
        .collect()
}

/// Steps that both journals have came to the same.
pub(crate) fn same_outcomes(undisturbed: &[&Record], disturbed: &[&Record]) {
    let (before, after) = (outcomes(undisturbed), outcomes(disturbed));
    for (step, outcome) in after {
        if let Some(expected) = before.get(step)
            && *expected != outcome
        {
            violated(format!(
                "`{step}` came to {outcome:?}, and undisturbed to {expected:?}"
            ));
        }
    }
}

/// An answer that was refused because it was late is not used.
pub(crate) fn late_answers(id: ExecutionId, records: &[Record]) {
    let late = world(|world| world.late.clone());
    for answer in late.iter().filter(|answer| answer.execution == id) {
        if records.iter().any(|record| is_use(answer, record)) {
            violated(format!(
                "the answer to `{}` was refused as late, and used",
                answer.step
            ));
        }
    }
}

fn is_use(answer: &Given, record: &Record) -> bool {
    record.kind == RecordKind::Resumed
        && record.step == answer.step
        && record.payload.contains(&answer.value.to_string())
}

/// Every accepted answer is in the journal, unless what asked was dropped before.
pub(crate) fn answers(id: ExecutionId, records: &[Record]) {
    let accepted = world(|world| world.accepted.clone());
    let mut seen = BTreeSet::new();
    for answer in accepted.iter().filter(|answer| answer.execution == id) {
        if !seen.insert(&answer.step) {
            violated(format!("two answers to `{}` were accepted", answer.step));
        }
        let used = records.iter().any(|record| is_use(answer, record));
        let dropped = records.iter().any(|record| match record.kind {
            RecordKind::RunFailed | RecordKind::RunCancelled => true,
            RecordKind::NodeFinished | RecordKind::FlowFailed | RecordKind::TimedOut => {
                answer.step != record.step && is_over(record, &of(&answer.step))
            }
            _ => false,
        });
        if !used && !dropped {
            violated(format!(
                "the answer to `{}` was accepted and not used",
                answer.step
            ));
        }
    }
}

/// Every signal that was sent is in the journal once, or was not taken. Those of one name are taken
/// in the order in which they were sent, and are what was sent.
pub(crate) fn signals(id: ExecutionId, records: &[Record], untaken: &[SignalRow]) {
    let sent = world(|world| world.sent.clone());
    let names: BTreeMap<&str, &str> = records
        .iter()
        .filter(|record| record.kind == RecordKind::Awaiting)
        .map(|record| (record.step.as_str(), record.payload.as_str()))
        .collect();
    for name in ["Tell", "TellSoon", "Poke"] {
        let quoted = format!("\"{name}\"");
        let taken = records.iter().filter(|record| {
            record.kind == RecordKind::Received
                && names
                    .get(record.step.as_str())
                    .is_some_and(|awaited| awaited.contains(&quoted))
        });
        let taken = taken.filter_map(|record| {
            let payload: Value = serde_json::from_str(&record.payload).ok()?;
            Some((payload["number"].as_u64()?, payload["body"].clone()))
        });
        let untaken = untaken.iter().filter(|signal| signal.name == name);
        let untaken = untaken.map(|signal| {
            let body = serde_json::from_str(&signal.payload).unwrap_or_default();
            (signal.number, body)
        });
        let all: Vec<(u64, Value)> = taken.chain(untaken).collect();
        if !all.is_sorted_by(|(before, _), (after, _)| before < after) {
            violated(format!("signals `{name}` were not taken in order: {all:?}"));
        }
        let count = sent.get(&(id, name)).copied().unwrap_or_default();
        // One more may have been sent by a process that was stopped before it knew.
        if all.len() as u64 != count && all.len() as u64 != count + 1 {
            let there = all.len();
            violated(format!(
                "{count} signals `{name}` were sent, and {there} are there"
            ));
        }
        for (at, (_, body)) in (0..).zip(&all) {
            if *body != told(name, at) {
                violated(format!(
                    "signal `{name}` {at} is {body}, which was not sent"
                ));
            }
        }
    }
}

/// A record of a step, to compare with.
fn of(step: &str) -> Record {
    Record {
        seq: 0,
        at_ms: 0,
        kind: RecordKind::Resumed,
        path: String::new(),
        step: step.to_owned(),
        visit: 1,
        item: None,
        attempt: 0,
        payload: String::new(),
    }
}
