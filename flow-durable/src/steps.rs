//! The records that a journal should have.

use super::{Record, RecordKind};

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
