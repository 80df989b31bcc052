//! The thread that writes.
//!
//! Making a transaction durable takes longer than the rest of it. All requests that arrive
//! meanwhile therefore form the next transaction, each within its own savepoint, and are answered
//! after the commit.

use std::iter;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};

use flow_store::StoreError;
use rusqlite::Connection;
use tokio::sync::oneshot;

use super::errors::{Shared, shared_error};
use super::transaction::Session;

/// The maximum number of requests in one transaction.
const GROUP: usize = 512;

/// A job for the thread.
pub(super) enum Job {
    /// A write, which shares a transaction with other waiting writes.
    Write(Box<dyn Request>),
    /// A separate transaction of a step.
    Session(Session),
}

/// A write. It may run several times, each time as if it were the first.
pub(super) trait Request: Send {
    /// Runs the request, and keeps the outcome. Returns true if it succeeded.
    fn run(&mut self, connection: &Connection) -> bool;

    /// Sends the outcome, or the reason why nothing was written.
    fn reply(self: Box<Self>, failure: Option<StoreError>);
}

struct Work<F, T> {
    run: F,
    outcome: Option<Result<T, StoreError>>,
    reply: oneshot::Sender<Result<T, StoreError>>,
}

impl<F, T> Request for Work<F, T>
where
    F: Fn(&Connection) -> Result<T, StoreError> + Send,
    T: Send,
{
    fn run(&mut self, connection: &Connection) -> bool {
        let outcome = (self.run)(connection);
        let succeeded = outcome.is_ok();
        self.outcome = Some(outcome);
        succeeded
    }

    fn reply(self: Box<Self>, failure: Option<StoreError>) {
        let outcome = match failure {
            Some(error) => Some(Err(error)),
            None => self.outcome,
        };
        if let Some(outcome) = outcome {
            // The caller may have stopped waiting.
            let _ = self.reply.send(outcome);
        }
    }
}

/// Writes, and returns once the write is durable.
pub(super) async fn write<T: Send + 'static>(
    jobs: &Sender<Job>,
    run: impl Fn(&Connection) -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    let (reply, outcome) = oneshot::channel();
    let work = Work {
        run,
        outcome: None,
        reply,
    };
    // If the thread is gone, so is `reply`.
    let _ = jobs.send(Job::Write(Box::new(work)));
    outcome.await.unwrap_or_else(|_| Err(thread_ended()))
}

pub(super) fn thread_ended() -> StoreError {
    StoreError::Other("a thread of the store has ended".into())
}

/// Runs these jobs until all senders are gone.
pub(super) fn serve(connection: &Connection, jobs: &Receiver<Job>) {
    while let Ok(first) = jobs.recv() {
        let mut group = Vec::new();
        let mut session = None;
        for job in iter::once(first).chain(jobs.try_iter().take(GROUP - 1)) {
            match job {
                Job::Write(request) => group.push(request),
                Job::Session(next) => {
                    session = Some(next);
                    break;
                }
            }
        }
        if !group.is_empty() {
            commit(connection, group);
        }
        if let Some(session) = session {
            session.serve(connection);
        }
    }
}

/// The end of a transaction.
enum End {
    /// Each request has its outcome.
    Done,
    /// The transaction could not be begun or committed.
    Failed(Shared),
    /// The failure of one request undid the others as well.
    Undone,
}

fn commit(connection: &Connection, mut group: Vec<Box<dyn Request>>) {
    let failed = match transaction(connection, &mut group) {
        End::Done => None,
        End::Failed(error) if group.len() == 1 || is_locked(&error) => Some(error),
        End::Undone if group.len() == 1 => None,
        End::Failed(_) | End::Undone => {
            // The failed request is unknown.
            for request in group {
                commit(connection, vec![request]);
            }
            return;
        }
    };
    for request in group {
        request.reply(failed.as_ref().map(shared_error));
    }
}

fn is_locked(error: &Shared) -> bool {
    matches!(shared_error(error), StoreError::Locked(_))
}

fn transaction(connection: &Connection, group: &mut [Box<dyn Request>]) -> End {
    let end = match execute(connection, "BEGIN IMMEDIATE") {
        Ok(()) => match group {
            [alone] => run_alone(connection, alone),
            several => run_together(connection, several),
        },
        Err(error) => Err(error),
    };
    if !connection.is_autocommit() {
        // If this fails, the next `BEGIN` fails too, with the reason.
        let _ = execute(connection, "ROLLBACK");
    }
    end.unwrap_or_else(End::Failed)
}

fn run_alone(connection: &Connection, request: &mut Box<dyn Request>) -> Result<End, Shared> {
    if request.run(connection) {
        execute(connection, "COMMIT")?;
    }
    Ok(End::Done)
}

fn run_together(connection: &Connection, group: &mut [Box<dyn Request>]) -> Result<End, Shared> {
    for request in group {
        execute(connection, "SAVEPOINT request")?;
        if !request.run(connection) {
            // Some errors, such as a full disk, can make SQLite roll back the whole transaction.
            if connection.is_autocommit() {
                return Ok(End::Undone);
            }
            execute(connection, "ROLLBACK TO request")?;
        }
        execute(connection, "RELEASE request")?;
    }
    execute(connection, "COMMIT")?;
    Ok(End::Done)
}

/// Runs a statement that returns nothing.
pub(super) fn execute(connection: &Connection, sql: &str) -> Result<(), Shared> {
    let mut statement = connection.prepare_cached(sql).map_err(Arc::new)?;
    statement.raw_execute().map_err(Arc::new)?;
    Ok(())
}
