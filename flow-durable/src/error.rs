//! The errors of executions.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use flow_runtime::engine::InputError;
use flow_runtime::{FlowError, SignalError};
use flow_store::{Damaged, ExecutionId, RecordKind, Status, StoreError};

/// The error of a call to a [`Runtime`](super::Runtime). The execution is unchanged, and can be
/// read.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum RuntimeError {
    /// The store failed.
    #[error(transparent)]
    Store(StoreFailure),
    /// No flow of this name was registered.
    #[error("no flow `{flow}` is registered: `runtime.register({flow}::new())`")]
    NotRegistered {
        /// The flow's name.
        flow: String,
    },
    /// The registered flow of this name does not take typed inputs of this type: it is another
    /// flow, or it was loaded from a document, and [`start_json`](crate::Executions::start_json)
    /// starts it.
    #[error("the flow `{flow}` that is registered does not take inputs of this type")]
    OtherFlow {
        /// The flow's name.
        flow: &'static str,
    },
    /// Another flow of this name was registered before.
    #[error("a flow `{flow}` is registered already")]
    AlreadyRegistered {
        /// The flow's name.
        flow: String,
    },
    /// A node of the flow opens transactions, and the store has no database for them.
    #[error(
        "the flow `{flow}` cannot run on this store: `{node}` writes in a transaction, and the store has no database"
    )]
    NoTransactions {
        /// The flow's name.
        flow: String,
        /// The path of the node within the flow.
        node: String,
    },
    /// A value or an action of the flow cannot be stored, so executions could not be resumed.
    #[error("the flow `{flow}` cannot run durably: `{name}`: {reason}")]
    NotStorable {
        /// The flow's name.
        flow: String,
        /// The key of the value, or the name of the node that takes the action.
        name: String,
        /// The reason it cannot be stored.
        reason: String,
    },
    /// A new version of a flow would break callers or executions of the registered one: see
    /// [`replace`](super::Runtime::replace).
    #[error(
        "the flow `{flow}` is not replaced, because its new version would break callers or executions:{}",
        lines(changes)
    )]
    BreakingVersion {
        /// The flow's name.
        flow: String,
        /// The changes and whom they affect, one per line.
        changes: Vec<String>,
    },
    /// The execution does not exist, or belongs to another owner: see
    /// [`Executions`](super::Executions).
    #[error("there is no execution {0}")]
    NotFound(ExecutionId),
    /// A text is not an id, and no id begins with it, except perhaps those of other owners: see
    /// [`find_id`](crate::Executions::find_id).
    #[error("there is no execution `{0}`: write an id, or at least its first 4 digits")]
    UnknownId(String),
    /// Several ids begin with these digits: see [`find_id`](crate::Executions::find_id).
    #[error(
        "the ids of several executions begin with `{beginning}`:{}{}",
        lines(executions),
        if *more { "\n  and more" } else { "" }
    )]
    AmbiguousId {
        /// The digits.
        beginning: String,
        /// The newest of these executions.
        executions: Vec<ExecutionId>,
        /// True if there are more of them.
        more: bool,
    },
    /// The execution is over, so it can be neither answered nor cancelled.
    #[error("execution {execution} is {status} already")]
    Over {
        /// The execution.
        execution: ExecutionId,
        /// The status with which it ended.
        status: Status,
    },
    /// The execution has failed, and cannot be [retried](super::Executions::retry).
    #[error("execution {execution} is not retried: {reason}")]
    NotRetried {
        /// The execution.
        execution: ExecutionId,
        /// The reason.
        reason: String,
    },
    /// The execution is not halted, or somebody else continues it at this moment. Its budget stays
    /// as it was.
    #[error("execution {0} is not halted, or continues already")]
    NotHalted(ExecutionId),
    /// The execution runs a part of a loop, and the execution with the loop waits for it.
    #[error(
        "execution {execution} is a part of {of}, which waits for it: delete that one first, or cancel it"
    )]
    IsPart {
        /// The execution.
        execution: ExecutionId,
        /// The execution with the loop.
        of: ExecutionId,
    },
    /// The flow has changed since the execution was started, and its journal no longer fits.
    #[error(
        "execution {execution} was started with another version of the flow `{flow}`, and its journal no \
         longer fits:{}",
        lines(changes)
    )]
    FlowChanged {
        /// The execution.
        execution: ExecutionId,
        /// The flow's name.
        flow: String,
        /// The changes, one per line.
        changes: Vec<String>,
    },
    /// The flow has not changed since the execution was started, but a replay does not reach one of
    /// the records. Either a computation between two steps has another result than before (the
    /// condition of a `branch`, a value that a mapping passes on, a type's own `Deserialize`), or
    /// the journal has been changed. No step has run.
    #[error(
        "execution {execution}: its flow is unchanged, and yet a replay does not come to record {seq}, `{kind}` \
         of `{step}`: a condition or a value between two steps depends on something that is not the same in a \
         replay, such as the time or a global variable"
    )]
    ReplayDiverged {
        /// The execution.
        execution: ExecutionId,
        /// The number of the record.
        seq: u64,
        /// The kind of the record.
        kind: RecordKind,
        /// The step to which it belongs.
        step: String,
    },
    /// The program has a defect: code between two steps panicked, or a node whose panic is not
    /// routed. Or the execution would exceed its [`step_budget`](super::StartOptions::step_budget),
    /// or has lost its process too often
    /// ([`RuntimeOptions::take_overs`](super::RuntimeOptions::take_overs)). It continues from its
    /// records when a fixed program [recovers](super::Runtime::recover), or by hand:
    /// [`retry`](super::Executions::retry) and
    /// [`retry_with_steps`](super::Executions::retry_with_steps).
    #[error(
        "execution {execution} is halted, and continues with a program in which this is mended: {reason}"
    )]
    Halted {
        /// The execution.
        execution: ExecutionId,
        /// The reason, as it is [stored](super::Execution::halted).
        reason: String,
        /// The defect, if it was found in this process: [`FlowError::Panicked`] or
        /// [`FlowError::StepLimit`].
        error: Option<Arc<FlowError>>,
    },
    /// The journal is in the format of another version of this library.
    #[error(
        "execution {execution} has a journal of format {found}, which {} version of this library wrote; this one \
         reads format {known}",
        if found < known { "an older" } else { "a newer" }
    )]
    JournalFormat {
        /// The execution.
        execution: ExecutionId,
        /// The format of its journal.
        found: u32,
        /// The format that this library reads and writes.
        known: u32,
    },
    /// Something stored cannot be read: it is damaged, or its type has changed.
    #[error("execution {execution} at `{path}`: {reason}")]
    Unreadable {
        /// The execution.
        execution: ExecutionId,
        /// The path of the node or flow to which it belongs.
        path: String,
        /// The stored part, and what is wrong with it.
        reason: String,
    },
    /// The payload of a record cannot be decoded: the journal is damaged. No step has run.
    #[error("execution {execution} at `{path}`: record {seq}, `{kind}`, is damaged: {reason}")]
    DamagedRecord {
        /// The execution.
        execution: ExecutionId,
        /// The path of the node or flow to which the record belongs.
        path: String,
        /// The number of the record.
        seq: u64,
        /// The kind of the record.
        kind: RecordKind,
        /// The reason why its payload is damaged.
        reason: String,
    },
    /// A value cannot be stored as JSON and read back.
    #[error("{}`{path}`: the value cannot be stored: {reason}", prefix(execution))]
    Unstorable {
        /// The execution, if it has been stored.
        execution: Option<ExecutionId>,
        /// The path of the node or flow whose value it is.
        path: String,
        /// The reason it cannot be stored.
        reason: String,
    },
    /// The input of a new execution does not fit the flow.
    #[error("the input of `{flow}` does not fit: {error}")]
    Input {
        /// The flow's name.
        flow: String,
        /// Everything that is wrong with it.
        error: InputError,
    },
    /// No question has this token, or it belongs to another owner: see
    /// [`Executions`](super::Executions).
    #[error("there is no question with this token")]
    UnknownToken,
    /// The question has been answered before.
    #[error("the question of execution {execution} at `{path}` has been answered already")]
    AlreadyAnswered {
        /// The execution.
        execution: ExecutionId,
        /// The path of the node that asked.
        path: String,
    },
    /// The question is no longer asked: the node that asked was dropped, and the run continued
    /// without an answer.
    #[error("execution {execution} at `{path}` no longer asks: it has gone on without an answer")]
    Withdrawn {
        /// The execution.
        execution: ExecutionId,
        /// The path of the node that asked.
        path: String,
    },
    /// The time to answer is over.
    #[error("the time to answer the question of execution {execution} at `{path}` is over")]
    Expired {
        /// The execution.
        execution: ExecutionId,
        /// The path of the node that asked.
        path: String,
    },
    /// The answer is not of the type that was asked for.
    #[error(
        "execution {execution} at `{path}` asks for a `{expected}`, and the answer is none: {reason}"
    )]
    WrongType {
        /// The execution.
        execution: ExecutionId,
        /// The path of the node that asked.
        path: String,
        /// The type that was asked for.
        expected: String,
        /// The reason the answer does not fit.
        reason: String,
    },
    /// The answer cannot be checked here: this process does not have the flow, and the question was
    /// stored without a JSON Schema.
    #[error(
        "execution {execution} at `{path}` asks for a `{expected}`, which cannot be checked here: the flow \
         `{flow}` is not registered, and the question has no JSON Schema. Answer where the flow is registered, \
         or derive `schemars::JsonSchema` for `{expected}`"
    )]
    NoSchema {
        /// The execution.
        execution: ExecutionId,
        /// The flow's name.
        flow: String,
        /// The path of the node that asked.
        path: String,
        /// The type that was asked for.
        expected: String,
    },
    /// The idempotency key was used before, with another input.
    #[error(
        "execution {execution} was started with the idempotency key `{idempotency_key}` and another input"
    )]
    OtherInput {
        /// The execution that was started with it.
        execution: ExecutionId,
        /// The key.
        idempotency_key: String,
    },
    /// A signal was refused: no step of the flow waits for one of its name, or its body is not of
    /// the type.
    #[error("execution {execution} does not take the signal: {error}")]
    Signal {
        /// The execution.
        execution: ExecutionId,
        /// The reason.
        error: SignalError,
    },
    /// The idempotency key of a signal was used before, with another name or body.
    #[error(
        "execution {execution} has had another signal with the idempotency key `{idempotency_key}`"
    )]
    OtherSignal {
        /// The execution.
        execution: ExecutionId,
        /// The key.
        idempotency_key: String,
    },
    /// The journal has no record with this number, or no longer has the records needed to go back
    /// to it.
    #[error("execution {execution} has no record {seq}, or no longer the records that lead to it")]
    NoRecord {
        /// The execution.
        execution: ExecutionId,
        /// The number.
        seq: u64,
    },
    /// An execution cannot be copied with these values: see
    /// [`copy_with`](super::Executions::copy_with).
    #[error(
        "execution {execution} is not copied at record {seq} with other values:{}",
        lines(reasons)
    )]
    Unchangeable {
        /// The execution.
        execution: ExecutionId,
        /// The number of the record.
        seq: u64,
        /// All that is wrong, one per line.
        reasons: Vec<String>,
    },
    /// Another process has taken the execution over, or ended it.
    #[error("execution {0} has been taken over or ended by another process")]
    TakenOver(ExecutionId),
    /// The runtime was shut down before the execution was done. Another one resumes it.
    #[error("the runtime was shut down before execution {0} was done; another one goes on with it")]
    ShutDown(ExecutionId),
    /// The task of the execution ended before the execution was done, because its tokio runtime
    /// ended. Another process resumes it, or this one when [`recover`](super::Runtime::recover) is
    /// called.
    #[error(
        "the task of execution {0} ended before it was done; another process goes on with it, or this one after \
         `recover`"
    )]
    TaskEnded(ExecutionId),
}

/// The error of a store, with the execution that it concerns.
#[derive(Debug, Clone)]
pub struct StoreFailure {
    /// The execution, if the error concerns one.
    pub execution: Option<ExecutionId>,
    /// The path of the node or flow whose record could not be written.
    pub path: Option<String>,
    /// The error. Its source is that of the underlying store, and is also the source of this error.
    pub error: Arc<StoreError>,
}

impl fmt::Display for StoreFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.execution, &self.path) {
            (Some(execution), Some(path)) => write!(f, "execution {execution} at `{path}`: ")?,
            (Some(execution), None) => write!(f, "execution {execution}: ")?,
            (None, _) => {}
        }
        self.error.fmt(f)
    }
}

impl Error for StoreFailure {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.error.source()
    }
}

/// Each of them on a line of its own.
fn lines(all: &[impl fmt::Display]) -> String {
    all.iter().map(|one| format!("\n  {one}")).collect()
}

/// The beginning of a message about a path: the execution, if it has been stored.
fn prefix(execution: &Option<ExecutionId>) -> String {
    let prefix = |id| format!("execution {id} at ");
    execution.map(prefix).unwrap_or_default()
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
            error => RuntimeError::Store(StoreFailure {
                execution,
                path,
                error: Arc::new(error),
            }),
        }
    }

    /// Returns true if the store failed, and its data are not damaged: what was asked for is not
    /// known, and may be known the next time.
    pub(crate) fn is_of_store(&self) -> bool {
        matches!(self, RuntimeError::Store(_)) && self.damaged().is_none()
    }

    /// The damage, if the error is about damaged data.
    pub(crate) fn damaged(&self) -> Option<Damaged> {
        let RuntimeError::Store(failure) = self else {
            return None;
        };
        let StoreError::Corrupt { place, reason } = &*failure.error else {
            return None;
        };
        Some(Damaged {
            execution: failure.execution,
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
