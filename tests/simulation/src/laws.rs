//! The laws that are checked when a case is over: the witness checks the others as it sees what happens.

use std::collections::HashMap;

use flow_runtime::durable::{Record, RecordKind, Store};
use futures_util::FutureExt as _;

use crate::case::{Mode, What};
use crate::run::Report;
use crate::world::{Accepted, World};

pub(crate) fn check(world: &World, report: &Report, undisturbed: Option<&Report>) {
    store_agrees(world);
    answers_are_used(world);
    if let Some(undisturbed) = undisturbed
        && world.case.mode == Mode::Calm
        && world.case.at_once == 0
    {
        as_undisturbed(world, report, undisturbed);
    }
}

/// The result, what each step read, and what came of it, are those of the undisturbed run.
fn as_undisturbed(world: &World, report: &Report, undisturbed: &Report) {
    if !world.case.has(What::Cancel) && report.ending != undisturbed.ending {
        world.violated(
            "same result",
            format!(
                "it ends as {:?}, and undisturbed as {:?}",
                report.ending, undisturbed.ending
            ),
        );
    }
    for (step, (read, life)) in &report.inputs {
        if let Some((expected, _)) = undisturbed.inputs.get(step)
            && expected != read
        {
            world.violated(
                "same inputs",
                format!("`{step}` reads {read:x} in process {life}, and {expected:x} in the undisturbed run"),
            );
        }
    }
    let expected = outcomes(&undisturbed.history);
    for (step, value) in outcomes(&report.history) {
        if let Some(expected) = expected.get(step)
            && *expected != value
        {
            world.violated(
                "same outcomes",
                format!("`{step}` comes to {value:?}, and in the undisturbed run to {expected:?}"),
            );
        }
    }
}

fn outcomes(history: &[Record]) -> HashMap<&str, (RecordKind, &str)> {
    let kinds = [RecordKind::Outcome, RecordKind::NodeFailed];
    let outcomes = history.iter().filter(|record| kinds.contains(&record.kind));
    outcomes
        .map(|record| (record.step.as_str(), (record.kind, record.payload.as_str())))
        .collect()
}

/// What the store has is what was stored, without what was pruned.
fn store_agrees(world: &World) {
    let all: Vec<_> = {
        let state = world.state();
        state
            .executions
            .iter()
            .map(|(id, seen)| (*id, seen.history.clone()))
            .collect()
    };
    for (id, history) in all {
        let records = world.store.records(id, 0, usize::MAX).now_or_never();
        let records = records.and_then(Result::ok).unwrap_or_default();
        let first = records.first().map_or(0, |first| first.seq as usize);
        if history.get(first..) != Some(&records[..]) {
            world.violated(
                "prefix",
                format!("the store has other records of {id} than were stored"),
            );
        }
        if first > 0 && !world.case.prune {
            world.violated(
                "prefix",
                format!("the first {first} records of {id} are gone"),
            );
        }
    }
}

/// Every accepted answer arrives, unless what asked was over before.
fn answers_are_used(world: &World) {
    let accepted = world.state().accepted.clone();
    for Accepted {
        execution,
        token,
        step,
        value,
        at_ms,
    } in accepted
    {
        let history = {
            let state = world.state();
            state
                .executions
                .get(&execution)
                .map(|seen| seen.history.clone())
                .unwrap_or_default()
        };
        let resumed = history.iter().find(|record| {
            record.kind == RecordKind::Resumed && record.payload.contains(&token.to_string())
        });
        if let Some(resumed) = resumed {
            let payload: serde_json::Value =
                serde_json::from_str(&resumed.payload).unwrap_or_default();
            if payload["answer"] != value {
                world.violated(
                    "answers are used",
                    format!(
                        "`{step}` was answered with {value}, and goes on with {}",
                        resumed.payload
                    ),
                );
            }
            continue;
        }
        let ended = history.iter().find(|record| ends(record, &step));
        match ended {
            None => world.violated(
                "answers are used",
                format!("the answer {value} to `{step}` was accepted and is not used"),
            ),
            // A second is more than what is under way takes in one process.
            Some(ended) if ended.at_ms > at_ms + 1000 && world.case.faults.is_empty() => world.violated(
                "answers are used",
                format!("the answer {value} to `{step}` was accepted before record {}, and is not used", ended.seq),
            ),
            Some(_) => {}
        }
    }
}

/// Whether a record ends something that a step stands in.
fn ends(record: &Record, step: &str) -> bool {
    let within = step
        .strip_prefix(record.step.as_str())
        .is_some_and(|rest| rest.starts_with(['.', '[', '~', '#']));
    match record.kind {
        RecordKind::RunFailed | RecordKind::RunCancelled => true,
        RecordKind::FlowFailed
        | RecordKind::TimedOut
        | RecordKind::NodeFinished
        | RecordKind::NodeFailed => within,
        _ => false,
    }
}
