//! What the steps of a case do, and what is noted of it. A case runs on one thread, so that this is
//! the thread's own.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::time::Duration;

use flow_durable::{ExecutionId, Record};
use flow_runtime::Context;

use crate::ledger::Entry;

/// An answer that was given to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Given {
    pub(crate) execution: ExecutionId,
    pub(crate) step: String,
    pub(crate) value: u64,
}

/// What the steps of one case have done.
#[derive(Debug, Default)]
pub(crate) struct World {
    /// Decides what steps do.
    pub(crate) seed: u64,
    /// By execution and step: what it read when it first ran.
    pub(crate) reads: BTreeMap<String, Vec<u64>>,
    /// By execution and step: those whose outcome is stored. They must not run again.
    pub(crate) done: BTreeSet<String>,
    /// The answers that were accepted.
    pub(crate) accepted: Vec<Given>,
    /// The answers that were refused, because they were late.
    pub(crate) late: Vec<Given>,
    /// By execution and name: how many signals were sent.
    pub(crate) sent: BTreeMap<(ExecutionId, &'static str), u64>,
    /// Counts answers of the store that came late: when one begins to be late, and when it comes.
    pub(crate) late_answers: u64,
    /// Whether somebody removes the execution.
    pub(crate) is_deleted: bool,
    /// By execution and step: what steps did that can be undone.
    pub(crate) ledger: BTreeMap<String, Entry>,
    /// By execution and step of an undo node: how often it was refused, or would have been.
    pub(crate) refusals: BTreeMap<String, u64>,
    /// All records that were stored, by their numbers, also those that were removed since.
    pub(crate) journals: BTreeMap<ExecutionId, BTreeMap<u64, Record>>,
    /// Whether somebody has cancelled the execution.
    pub(crate) is_cancelled: bool,
    /// Whether the process has another version of the flow.
    pub(crate) is_changed: bool,
    /// What went wrong.
    pub(crate) violations: Vec<String>,
    /// Every run of a step, in order.
    pub(crate) runs: Vec<String>,
}

thread_local! {
    static WORLD: RefCell<World> = RefCell::default();
}

/// Looks at the world of this thread, or changes it.
pub(crate) fn world<T>(look: impl FnOnce(&mut World) -> T) -> T {
    WORLD.with_borrow_mut(look)
}

/// A number that depends on the case and on these parts only.
pub(crate) fn hashed(parts: &impl std::hash::Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    world(|world| world.seed).hash(&mut hasher);
    parts.hash(&mut hasher);
    hasher.finish()
}

/// The name of a step without its execution.
pub(crate) fn step_of(step_id: &str) -> &str {
    step_id.split_once('/').map_or(step_id, |(_, step)| step)
}

/// A number that decides something about an attempt at a step.
pub(crate) fn roll(cx: &Context, reads: &[u64], what: &str) -> u64 {
    let id = cx.step_id();
    hashed(&(step_of(&id), cx.attempt(), reads, what))
}

/// A step runs: notes what it reads, and takes its time.
pub(crate) async fn act(cx: &Context, reads: &[u64]) {
    let id = cx.step_id();
    world(|world| {
        world
            .runs
            .push(format!("{id} attempt {} reads {reads:?}", cx.attempt()));
        if world.done.contains(&id) {
            world
                .violations
                .push(format!("`{id}` ran again, though its outcome is stored"));
        }
        let before = world
            .reads
            .entry(id.clone())
            .or_insert_with(|| reads.to_vec());
        if before != reads {
            let message = format!("`{id}` read {before:?} before, and {reads:?} now");
            world.violations.push(message);
        }
    });
    pause(cx, reads, "time").await;
}

/// Takes some time, or none.
pub(crate) async fn pause(cx: &Context, reads: &[u64], what: &str) {
    match roll(cx, reads, what) % 8 {
        0 | 1 => {}
        2 => tokio::task::yield_now().await,
        3 => {
            for _ in 0..roll(cx, reads, "yields") % 5 {
                tokio::task::yield_now().await;
            }
        }
        short => {
            let millis = roll(cx, reads, "millis") % (1 << (2 * (short - 3)));
            tokio::time::sleep(Duration::from_millis(millis)).await;
        }
    }
}
