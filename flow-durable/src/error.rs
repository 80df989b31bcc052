//! What can go wrong with executions.

use std::fmt;
use std::sync::Arc;

use flow_store::{Damaged, ExecutionId, RecordKind, Status, StoreError};

/// Why a [`Runtime`](super::Runtime) did not do what it was asked to. The execution is as it was,
/// and can be read.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum RuntimeError {
    /// The store failed.
    Store {
        /// The execution, if it was about one.
        execution: Option<ExecutionId>,
        /// The path of the node whose record could not be written, or of the flow.
        path: Option<String>,
        /// Why.
        error: Arc<StoreError>,
    },
    /// No flow of this name was registered.
    NotRegistered {
        /// The flow's name.
        flow: String,
    },
    /// Another flow of this name was registered before.
    AlreadyRegistered {
        /// The flow's name.
        flow: &'static str,
    },
    /// There is no such execution, or it belongs to somebody else: see
    /// [`Executions`](super::Executions).
    NotFound(ExecutionId),
    /// The execution is over, so that it can be neither answered nor cancelled.
    Over {
        /// The execution.
        execution: ExecutionId,
        /// How it ended.
        status: Status,
    },
    /// The flow has changed since the execution was started, and its journal no longer fits.
    FlowChanged {
        /// The execution.
        execution: ExecutionId,
        /// The flow's name.
        flow: String,
        /// What has changed, a line each.
        changes: Vec<String>,
    },
    /// The flow is the one that the execution was started with, and a replay of it does not come to
    /// one of the records. What it computes between two steps (the condition of a `branch`, a
    /// value that a mapping hands over, a type's own `Deserialize`) is not the same as it was,
    /// or the journal has been changed. No step has run.
    ReplayDiverged {
        /// The execution.
        execution: ExecutionId,
        /// The number of the record.
        seq: u64,
        /// What it records.
        kind: RecordKind,
        /// The step that it is of.
        step: String,
    },
    /// The journal is in the format of another version of this library.
    JournalFormat {
        /// The execution.
        execution: ExecutionId,
        /// Its format.
        found: u32,
        /// The format that this library reads and writes.
        known: u32,
    },
    /// Something stored cannot be read: it is damaged, or its type has changed.
    Unreadable {
        /// The execution.
        execution: ExecutionId,
        /// The path of the node that it belongs to, or of the flow.
        path: String,
        /// What it is and what is wrong with it.
        reason: String,
    },
    /// A value cannot be stored as JSON and read back.
    Unstorable {
        /// The execution, if it has been stored.
        execution: Option<ExecutionId>,
        /// The path of the node whose value it is, or of the flow.
        path: String,
        /// Why.
        reason: String,
    },
    /// There is no question with this token, or it belongs to somebody else: see
    /// [`Executions`](super::Executions).
    UnknownToken,
    /// The question has been answered before.
    AlreadyAnswered {
        /// The execution.
        execution: ExecutionId,
        /// The path of the node that asked.
        path: String,
    },
    /// The question is no longer asked: the run has gone on without an answer, since what asked was
    /// dropped.
    Withdrawn {
        /// The execution.
        execution: ExecutionId,
        /// The path of the node that asked.
        path: String,
    },
    /// The time to answer is over.
    Expired {
        /// The execution.
        execution: ExecutionId,
        /// The path of the node that asked.
        path: String,
    },
    /// The answer is not of the type that was asked for.
    WrongType {
        /// The execution.
        execution: ExecutionId,
        /// The path of the node that asked.
        path: String,
        /// The type that was asked for.
        expected: String,
        /// What is wrong with the answer.
        reason: String,
    },
    /// The idempotency key was used before, with another input.
    OtherInput {
        /// The execution that was started with it.
        execution: ExecutionId,
        /// The key.
        idempotency_key: String,
    },
    /// The journal has no record of this number, or no longer has what is needed to go back to it.
    NoRecord {
        /// The execution.
        execution: ExecutionId,
        /// The number.
        seq: u64,
    },
    /// Another process has taken the execution over, or ended it.
    TakenOver(ExecutionId),
    /// The runtime was shut down before the execution was done. Another one goes on with it.
    ShutDown(ExecutionId),
    /// The task of the execution ended before the execution was done: its tokio runtime has ended.
    /// Another process goes on with it, or this one when [`recover`](super::Runtime::recover)
    /// is called.
    TaskEnded(ExecutionId),
}

impl RuntimeError {
    pub(crate) fn store(
        execution: Option<ExecutionId>,
        path: Option<String>,
        error: StoreError,
    ) -> Self {
        match error {
            StoreError::LeaseLost(execution) => RuntimeError::TakenOver(execution),
            StoreError::NotFound(execution) => RuntimeError::NotFound(execution),
            StoreError::UnknownToken(_) => RuntimeError::UnknownToken,
            error => RuntimeError::Store {
                execution,
                path,
                error: Arc::new(error),
            },
        }
    }

    /// What is damaged, if that is what is wrong.
    pub(crate) fn damaged(&self) -> Option<Damaged> {
        let RuntimeError::Store {
            execution, error, ..
        } = self
        else {
            return None;
        };
        let StoreError::Corrupt { place, reason } = &**error else {
            return None;
        };
        Some(Damaged {
            execution: *execution,
            place: place.clone(),
            reason: reason.clone(),
        })
    }

    pub(crate) fn of(execution: ExecutionId) -> impl Fn(StoreError) -> RuntimeError {
        move |error| RuntimeError::store(Some(execution), None, error)
    }
}

impl From<Damaged> for RuntimeError {
    fn from(damaged: Damaged) -> Self {
        RuntimeError::store(damaged.execution, None, damaged.into())
    }
}

impl From<StoreError> for RuntimeError {
    fn from(error: StoreError) -> Self {
        RuntimeError::store(None, None, error)
    }
}

impl fmt::Display for RuntimeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RuntimeError::Store {
                execution,
                path,
                error,
            } => {
                if let Some(execution) = execution {
                    write!(f, "execution {execution}")?;
                    if let Some(path) = path {
                        write!(f, " at `{path}`")?;
                    }
                    f.write_str(": ")?;
                }
                error.fmt(f)
            }
            RuntimeError::NotRegistered { flow } => {
                write!(
                    f,
                    "no flow `{flow}` is registered: `runtime.register({flow}::new())`"
                )
            }
            RuntimeError::AlreadyRegistered { flow } => {
                write!(f, "a flow `{flow}` is registered already")
            }
            RuntimeError::NotFound(id) => write!(f, "there is no execution {id}"),
            RuntimeError::Over { execution, status } => {
                write!(f, "execution {execution} is {status} already")
            }
            RuntimeError::FlowChanged {
                execution,
                flow,
                changes,
            } => {
                write!(
                    f,
                    "execution {execution} was started with another version of the flow `{flow}`, and its journal no \
                     longer fits:"
                )?;
                changes
                    .iter()
                    .try_for_each(|change| write!(f, "\n  {change}"))
            }
            RuntimeError::ReplayDiverged {
                execution,
                seq,
                kind,
                step,
            } => {
                write!(
                    f,
                    "execution {execution}: its flow is unchanged, and yet a replay does not come to record {seq}, \
                     `{kind}` of `{step}`: a condition or a value between two steps depends on something that is not \
                     the same in a replay, such as the time or a global variable"
                )
            }
            RuntimeError::JournalFormat {
                execution,
                found,
                known,
            } => {
                let age = if found < known { "an older" } else { "a newer" };
                write!(
                    f,
                    "execution {execution} has a journal of format {found}, which {age} version of this library wrote; \
                     this one reads format {known}"
                )
            }
            RuntimeError::Unreadable {
                execution,
                path,
                reason,
            } => {
                write!(f, "execution {execution} at `{path}`: {reason}")
            }
            RuntimeError::Unstorable {
                execution: Some(id),
                path,
                reason,
            } => {
                write!(
                    f,
                    "execution {id} at `{path}`: the value cannot be stored: {reason}"
                )
            }
            RuntimeError::Unstorable {
                execution: None,
                path,
                reason,
            } => {
                write!(f, "`{path}`: the value cannot be stored: {reason}")
            }
            RuntimeError::UnknownToken => f.write_str("there is no question with this token"),
            RuntimeError::AlreadyAnswered { execution, path } => {
                write!(
                    f,
                    "the question of execution {execution} at `{path}` has been answered already"
                )
            }
            RuntimeError::Withdrawn { execution, path } => {
                write!(
                    f,
                    "execution {execution} at `{path}` no longer asks: it has gone on without an answer"
                )
            }
            RuntimeError::Expired { execution, path } => {
                write!(
                    f,
                    "the time to answer the question of execution {execution} at `{path}` is over"
                )
            }
            RuntimeError::OtherInput {
                execution,
                idempotency_key,
            } => {
                write!(
                    f,
                    "execution {execution} was started with the idempotency key `{idempotency_key}` and another input"
                )
            }
            RuntimeError::WrongType {
                execution,
                path,
                expected,
                reason,
            } => {
                write!(
                    f,
                    "execution {execution} at `{path}` asks for a `{expected}`, and the answer is none: {reason}"
                )
            }
            RuntimeError::NoRecord { execution, seq } => {
                write!(
                    f,
                    "execution {execution} has no record {seq}, or no longer the records that lead to it"
                )
            }
            RuntimeError::TakenOver(id) => {
                write!(
                    f,
                    "execution {id} has been taken over or ended by another process"
                )
            }
            RuntimeError::TaskEnded(id) => {
                write!(
                    f,
                    "the task of execution {id} ended before it was done; another process goes on with it, or this one \
                     after `recover`"
                )
            }
            RuntimeError::ShutDown(id) => {
                write!(
                    f,
                    "the runtime was shut down before execution {id} was done; another one goes on with it"
                )
            }
        }
    }
}

impl std::error::Error for RuntimeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            RuntimeError::Store { error, .. } => error.source(),
            _ => None,
        }
    }
}
