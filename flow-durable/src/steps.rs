//! The structure of step names: the steps inside other steps, and the gaps in a journal.

use super::{Record, RecordKind};

/// Returns true if a step is the other one, or is inside it.
pub(crate) fn is_within(step: &str, other: &str) -> bool {
    step == other || is_inside(step, other)
}

/// Returns true if a step is inside another one: a flow, a fork, or a loop.
pub(crate) fn is_inside(step: &str, other: &str) -> bool {
    step.strip_prefix(other)
        .is_some_and(|rest| rest.starts_with(['.', '[', '~']))
}

/// The step of the node, given the step of an attempt at a flow.
pub(crate) fn without_retry(step: &str) -> &str {
    match step.rsplit_once('~') {
        Some((node, retry)) if retry.bytes().all(|byte| byte.is_ascii_digit()) => node,
        _ => step,
    }
}

/// The first missing number among records that should go up to this number, which is excluded.
/// `None` if no number is missing. The records may begin with a snapshot instead of record 0, if
/// those before it are pruned or were not requested.
pub(crate) fn missing(records: &[Record], until: u64) -> Option<u64> {
    let first = match records.first() {
        Some(first) if first.kind == RecordKind::Snapshot => first.seq,
        _ => 0,
    };
    let mut found = records.iter().map(|record| record.seq);
    (first..until).find(|seq| found.next() != Some(*seq))
}
