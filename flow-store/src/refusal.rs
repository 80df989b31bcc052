//! What every store refuses, in the same words: for those who write one.

use crate::record::{Record, RecordKind};
use crate::{ExecutionId, PauseRow, Status, StoreError};

/// The `seq` after these records, which have to go on from `next`.
///
/// # Errors
///
/// There is a gap.
pub fn sequence(id: ExecutionId, next: u64, records: &[Record]) -> Result<u64, StoreError> {
    let mut expected = next;
    for record in records {
        if record.seq != expected {
            return Err(other(format!(
                "execution {id}: the next record has the number {expected}, not {}",
                record.seq
            )));
        }
        expected += 1;
    }
    Ok(expected)
}

/// The newest snapshot among records.
pub fn newest_snapshot(records: &[Record]) -> Option<u64> {
    records
        .iter()
        .rfind(|record| record.kind == RecordKind::Snapshot)
        .map(|record| record.seq)
}

/// Refuses questions of other executions.
///
/// # Errors
///
/// There is one.
pub fn questions_of(id: ExecutionId, pauses: &[PauseRow]) -> Result<(), StoreError> {
    match pauses.iter().find(|pause| pause.execution != id) {
        Some(pause) => Err(other(format!(
            "the question at `{}` belongs to execution {}, not to {id}",
            pause.path, pause.execution
        ))),
        None => Ok(()),
    }
}

/// Refuses to end an execution as one that goes on.
///
/// # Errors
///
/// It is one.
pub fn is_an_end(status: Status) -> Result<(), StoreError> {
    if status.is_over() {
        return Ok(());
    }
    Err(other(format!("an execution cannot end as {status}")))
}

/// Another execution has this id.
pub fn id_taken(id: ExecutionId) -> StoreError {
    other(format!("there is an execution {id} already"))
}

/// Another question has the token of a new one.
pub fn token_taken() -> StoreError {
    other("there is a question with this token already".to_owned())
}

/// Records are to be removed before one that is not a snapshot.
pub fn not_a_snapshot(id: ExecutionId, seq: u64) -> StoreError {
    other(format!(
        "execution {id}: the records before {seq} stay, since it is not a snapshot"
    ))
}

fn other(reason: String) -> StoreError {
    StoreError::Other(reason.into())
}
