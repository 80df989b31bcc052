//! How steps are named: which of them stands in which, and which records a journal should have.

use super::{Record, RecordKind};

/// Whether a step is another one, or stands in it.
pub(crate) fn is_within(step: &str, other: &str) -> bool {
    step == other || is_inside(step, other)
}

/// Whether a step stands in another one: a flow, a fork, or a loop.
pub(crate) fn is_inside(step: &str, other: &str) -> bool {
    step.strip_prefix(other)
        .is_some_and(|rest| rest.starts_with(['.', '[', '~']))
}

/// The step of the node, of an attempt at a flow.
pub(crate) fn without_retry(step: &str) -> &str {
    match step.rsplit_once('~') {
        Some((node, retry)) if retry.bytes().all(|byte| byte.is_ascii_digit()) => node,
        _ => step,
    }
}

/// The first that is missing among records that should go on up to this number, that one not
/// included. `None` if none is. They may begin with a snapshot instead of record 0: what was before
/// it is pruned, or was not asked for.
pub(crate) fn missing(records: &[Record], until: u64) -> Option<u64> {
    let first = match records.first() {
        Some(first) if first.kind == RecordKind::Snapshot => first.seq,
        _ => 0,
    };
    let mut found = records.iter().map(|record| record.seq);
    (first..until).find(|seq| found.next() != Some(*seq))
}
