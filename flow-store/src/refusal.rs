//! The common errors of all stores, for authors of stores.

use crate::record::{Record, RecordKind};
use crate::{ExecutionId, NewSignal, PauseRow, Row, Status, StoreError};

/// Returns the `seq` after these records, whose numbers have to start at `next`.
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

/// The maximum size in bytes of each text that a store searches by. Three of them fit into an index
/// entry of Postgres.
pub const LONGEST_NAME: usize = 512;

/// Refuses an execution whose flow, owner, idempotency key or concurrency key is longer than
/// [`LONGEST_NAME`], or whose status is not [stored](stored_status).
///
/// # Errors
///
/// One of them is too long, or the status is [`Cancelling`](Status::Cancelling).
pub fn names(row: &Row) -> Result<(), StoreError> {
    let concurrency = row.concurrency.as_ref();
    let names = [
        ("name of the flow", Some(&row.flow)),
        ("owner", row.owner.as_ref()),
        ("idempotency key", row.idempotency_key.as_ref()),
        ("concurrency key", concurrency.map(|it| &it.key)),
    ];
    no_longer(row.id, names)?;
    stored_status(row.id, Some(row.status))
}

/// Refuses a status that no [`Row`] can have.
///
/// # Errors
///
/// It is [`Cancelling`](Status::Cancelling).
pub fn stored_status(id: ExecutionId, status: Option<Status>) -> Result<(), StoreError> {
    match status.filter(|status| !Status::STORED.contains(status)) {
        Some(status) => Err(other(format!(
            "execution {id}: a row cannot have the status {status}"
        ))),
        None => Ok(()),
    }
}

/// Refuses a signal whose name or key is longer than [`LONGEST_NAME`].
///
/// # Errors
///
/// One of them is too long.
pub fn signal_names(id: ExecutionId, signal: &NewSignal) -> Result<(), StoreError> {
    let names = [
        ("name of the signal", Some(&signal.name)),
        ("key of the signal", signal.key.as_ref()),
    ];
    no_longer(id, names)
}

fn no_longer<const N: usize>(
    id: ExecutionId,
    names: [(&'static str, Option<&String>); N],
) -> Result<(), StoreError> {
    let too_long = |(what, name): (&'static str, Option<&String>)| {
        let bytes = name.map_or(0, String::len);
        (bytes > LONGEST_NAME).then_some((what, bytes))
    };
    match names.into_iter().find_map(too_long) {
        Some((what, bytes)) => Err(other(format!(
            "execution {id}: the {what} has {bytes} bytes, and can have {LONGEST_NAME}"
        ))),
        None => Ok(()),
    }
}

/// Returns the number of the newest snapshot among these records.
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
/// One of the questions belongs to another execution.
pub fn questions_of(id: ExecutionId, pauses: &[PauseRow]) -> Result<(), StoreError> {
    match pauses.iter().find(|pause| pause.execution != id) {
        Some(pause) => Err(other(format!(
            "the question at `{}` belongs to execution {}, not to {id}",
            pause.path, pause.execution
        ))),
        None => Ok(()),
    }
}

/// Refuses a status with which an execution is not over.
///
/// # Errors
///
/// An execution with this status is not over.
pub fn is_an_end(status: Status) -> Result<(), StoreError> {
    if status.is_over() {
        return Ok(());
    }
    Err(other(format!("an execution cannot end as {status}")))
}

/// Refuses a status with which an execution that is over cannot [continue](crate::Store::reopen).
///
/// # Errors
///
/// It is neither [`Running`](Status::Running) nor [`Queued`](Status::Queued).
pub fn is_reopened(status: Status) -> Result<(), StoreError> {
    if matches!(status, Status::Running | Status::Queued) {
        return Ok(());
    }
    Err(other(format!("an execution cannot continue as {status}")))
}

/// Returns the error for an id that another execution has.
pub fn id_taken(id: ExecutionId) -> StoreError {
    other(format!("there is an execution {id} already"))
}

/// Returns the error for a token that another question has.
pub fn token_taken() -> StoreError {
    other("there is a question with this token already".to_owned())
}

/// Returns the error for a removal of records before one that is not a snapshot.
pub fn not_a_snapshot(id: ExecutionId, seq: u64) -> StoreError {
    other(format!(
        "execution {id}: the records before {seq} stay, since it is not a snapshot"
    ))
}

/// Returns the error for a signal that cannot be taken.
pub fn not_a_signal(id: ExecutionId, number: u64) -> StoreError {
    other(format!(
        "execution {id}: signal {number} cannot be taken, since it was taken before or never sent"
    ))
}

/// Returns the error for a transaction of a store that has none.
pub fn no_transactions() -> StoreError {
    other("the store has no database in which a step could write".to_owned())
}

fn other(reason: String) -> StoreError {
    StoreError::Other(reason.into())
}
