//! What has to be true of what processes have left behind, wherever they died.

use std::collections::{BTreeMap, BTreeSet};

use flow_durable::{Record, RecordKind, Status};
use serde_json::Value;

use crate::database::Stored;
use crate::grave::Grave;
use crate::support::Outcome;

/// What was found at points.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) points: usize,
    pub(crate) deaths: usize,
    pub(crate) reruns: usize,
    pub(crate) answers: usize,
    pub(crate) postings: usize,
    pub(crate) violations: Vec<String>,
}

/// How many rows an execution of `ledger` comes to.
const POSTINGS: i64 = 7;

/// What the steps have written to the table of their own, in the transactions of their outcomes.
pub(crate) fn judge_ledger(
    grave: &Grave,
    contents: &[Stored],
    lives: &[Vec<Value>],
    is_pruned: bool,
    found: &mut Found,
    wrong: &mut Vec<String>,
) -> Outcome {
    let lines = || lives.iter().flatten();
    let steps = |what: &str| -> BTreeSet<String> {
        let steps = lines().filter_map(|line| line[what].as_str());
        steps.map(str::to_owned).collect()
    };
    let (posts, recorded) = (steps("posts"), steps("recorded"));
    let in_vain = |step: &str| step.contains("post_in_vain");
    let rows: BTreeMap<String, i64> = grave.database().postings()?.into_iter().collect();
    for step in posts.intersection(&recorded) {
        let count = rows.get(step).copied().unwrap_or(0);
        if count != i64::from(!in_vain(step)) {
            wrong.push(format!(
                "{step} is recorded, and in the table {count} times"
            ));
        }
        found.postings += usize::from(!in_vain(step));
    }
    let doubled = rows.iter().filter(|(_, count)| **count != 1);
    wrong.extend(doubled.map(|(step, count)| format!("{step} is in the table {count} times")));
    // A record that is pruned by the write that adds it is nowhere if its process dies then.
    if !is_pruned {
        let lost = rows.keys().filter(|step| !recorded.contains(*step));
        wrong.extend(lost.map(|step| format!("{step} is in the table, and not recorded")));
    }
    for Stored { row, .. } in contents {
        let own = format!("{}/", row.id);
        let own = rows.iter().filter(|(step, _)| step.starts_with(&own));
        let count: i64 = own.map(|(_, count)| count).sum();
        if row.copied_from.is_none() && count != POSTINGS {
            wrong.push(format!("{} has {count} rows", row.id));
        }
    }
    Ok(())
}

/// What the database says in the end.
pub(crate) fn judge_contents(contents: &[Stored], wrong: &mut Vec<String>) {
    for stored in contents {
        let Stored {
            row,
            claim,
            questions,
            records,
        } = stored;
        let mut violated = |what: String| wrong.push(format!("{}: {what}", row.id));
        let is_part = row.flow.contains('.');
        let is_over = matches!(row.status, Status::Completed | Status::Failed)
            || (is_part && row.status == Status::Cancelled);
        if !is_over || claim.is_some() {
            violated(format!("it is not over: {}, {claim:?}", row.status));
        }
        for question in questions {
            violated(format!("a question is open: {question:?}"));
        }
        // Of a history that is pruned, the beginning is missing.
        let first = records.first().map_or(0, |first| first.seq);
        let numbers = records.iter().map(|record| record.seq);
        if records.is_empty() || !numbers.eq(first..row.next_seq) {
            violated(format!("a record is missing before {}", row.next_seq));
        }
        let last = records.last().map(|last| last.kind);
        let ends = [
            RecordKind::RunCompleted,
            RecordKind::RunFailed,
            RecordKind::RunCancelled,
        ];
        if last.is_none_or(|last| !ends.contains(&last)) {
            violated(format!("its last record is {last:?}"));
        }
        for what in recorded_twice(records) {
            violated(format!("recorded twice: {what}"));
        }
    }
}

/// The records that can be there only once, and are not.
fn recorded_twice(records: &[Record]) -> BTreeSet<String> {
    use RecordKind::{AttemptFailed, FlowFailed, NodeFailed, Outcome, Resumed, Snapshot, TimedOut};
    let ended: BTreeSet<&str> = records
        .iter()
        .filter(|record| matches!(record.kind, FlowFailed | TimedOut))
        .map(|record| record.step.as_str())
        .collect();
    let words = records.iter().flat_map(|record| {
        let Record {
            step,
            kind,
            attempt,
            ..
        } = record;
        let ends = matches!(kind, Outcome | NodeFailed | Resumed);
        let of_flow = match attempt {
            0 => step.clone(),
            _ => format!("{step}~{attempt}"),
        };
        let failed = *kind == AttemptFailed && ended.contains(&*of_flow);
        let replayed = !matches!(kind, AttemptFailed | Snapshot);
        [
            ends.then(|| format!("the end of {step}")),
            failed.then(|| format!("the failure of attempt {attempt} of {step}")),
            replayed.then(|| format!("{kind} of {step}")),
        ]
    });
    let mut seen = BTreeSet::new();
    let words = words.flatten();
    words.filter(|word| !seen.insert(word.clone())).collect()
}

/// An answer that was stored is what a step saw, unless the flow that asked took too long
/// meanwhile.
pub(crate) fn judge_answers(
    lives: &[Vec<Value>],
    found: &mut Found,
    wrong: &mut Vec<String>,
) -> Outcome {
    let lines: Vec<&Value> = lives.iter().flatten().collect();
    let seen: Vec<String> = lines
        .iter()
        .filter(|line| line["began"].is_string())
        .map(|line| line["inputs"].to_string())
        .collect();
    let timed_out: BTreeSet<&str> = lines
        .iter()
        .filter_map(|line| line["timed_out"].as_str())
        .collect();
    let took_too_long = |step: &str| {
        let inside = |flow: &&str| {
            let rest = step.strip_prefix(*flow);
            rest.is_some_and(|rest| rest.starts_with(['.', '~']))
        };
        timed_out.iter().any(inside)
    };
    let mut given = BTreeSet::new();
    for line in &lines {
        let (Some(step), Some(answer)) = (line["answered"].as_str(), line["answer"].as_str())
        else {
            continue;
        };
        found.answers += 1;
        let by = signature(&serde_json::from_str(answer)?).ok_or("an answer is not signed")?;
        if !took_too_long(step) && !seen.iter().any(|inputs| inputs.contains(&by)) {
            wrong.push(format!(
                "the answer {answer} to {step} was accepted, and nobody saw it"
            ));
        }
        given.insert(by);
    }
    for line in lines {
        if let Some(by) = line["accepted"].as_str()
            && !given.contains(by)
        {
            wrong.push(format!("the answer {by} was accepted, and is not stored"));
        }
    }
    Ok(())
}

/// Which answer it was.
fn signature(answer: &Value) -> Option<String> {
    match answer {
        Value::Object(map) => match map.get("by") {
            Some(Value::String(by)) => Some(by.clone()),
            _ => map.values().find_map(signature),
        },
        _ => None,
    }
}
