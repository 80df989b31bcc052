//! The threads that read, so that a long list delays neither writes nor another list.

use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Mutex, PoisonError};

use flow_store::StoreError;
use rusqlite::Connection;
use tokio::sync::oneshot;

use super::errors::shared_error;
use super::writer::{execute, thread_ended};

/// The number of threads.
pub(super) const READERS: usize = 2;

pub(super) type Read = Box<dyn FnOnce(&Connection) + Send>;

/// Runs a read, and waits for its result.
pub(super) async fn read<T: Send + 'static>(
    reads: &Sender<Read>,
    run: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    let (reply, outcome) = oneshot::channel();
    // If the threads are gone, so is `reply`.
    let _ = reads.send(Box::new(move |connection| {
        if !reply.is_closed() {
            // The caller may have stopped waiting.
            let _ = reply.send(as_of_now(connection, run));
        }
    }));
    outcome.await.unwrap_or_else(|_| Err(thread_ended()))
}

/// Runs a read on a consistent state.
fn as_of_now<T>(
    connection: &Connection,
    run: impl FnOnce(&Connection) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    execute(connection, "BEGIN").map_err(|error| shared_error(&error))?;
    let outcome = run(connection);
    if !connection.is_autocommit() {
        execute(connection, "ROLLBACK").map_err(|error| shared_error(&error))?;
    }
    outcome
}

/// Serves reads until all senders are gone.
pub(super) fn serve(connection: &Connection, reads: &Mutex<Receiver<Read>>) {
    loop {
        let next = reads.lock().unwrap_or_else(PoisonError::into_inner).recv();
        match next {
            Ok(read) => read(connection),
            Err(_) => return,
        }
    }
}
