//! The ids of counted models within the steps of durable runs.
//!
//! A step may make several counted models, one after the other or at once, and in each of its
//! parts. Each needs its own number, which has to be the same when the step runs again after a
//! crash. So the numbers are kept by execution as long as this process works on it.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use flow_runtime::Context;

/// The number of ids that an attempt at a step has, by execution.
type Numbers = BTreeMap<String, BTreeMap<String, u64>>;

static NUMBERS: Mutex<Numbers> = Mutex::new(BTreeMap::new());

/// Ignores poisoning: a panic leaves the numbers whole.
fn numbers() -> MutexGuard<'static, Numbers> {
    NUMBERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The next id of an attempt at a step. `None` in a run without options, or if the run is over.
pub(crate) fn next_id(cx: &Context) -> Option<String> {
    let (step, lifecycle) = (cx.step_id(), cx.lifecycle()?);
    let execution = step.split('/').next().unwrap_or(&step).to_owned();
    let attempt = format!("{step}#{}", cx.attempt());
    let mut numbers = numbers();
    let ended = execution.clone();
    let forget = move || drop(self::numbers().remove(&ended));
    if lifecycle.on_finish(format!("charged {execution}"), forget) {
        numbers.insert(execution.clone(), BTreeMap::new());
    }
    let number = numbers
        .get_mut(&execution)?
        .entry(attempt.clone())
        .or_default();
    let id = format!("{attempt}#{number}");
    *number = number.saturating_add(1);
    Some(id)
}
