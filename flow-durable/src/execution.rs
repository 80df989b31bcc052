//! An execution, as it was when it was read.

use std::collections::BTreeMap;
use std::fmt;
use std::time::SystemTime;

use flow_runtime::engine::{Json, Saved, StepKey, StoredOutput, Unstorable};
use flow_store::{
    ExecutionId, PauseRow, Record, RecordKind, Row, SignalRow, Status, Token, free_text, from_ms,
    is_blob_marker,
};
use serde_json::Value;

use super::entry::{Entry, is_end};
use super::error::RuntimeError;
use super::events::Events;
use super::filter::EventFilter;
use super::options::StoredOptions;
use super::owned::Owned;
use super::payload::WITHOUT_BLOBS;
use super::retried::counting;
use super::undoable::UndoableStep;

/// The text that is shown for a reason that is not in the store.
const REASON_WITHOUT_BLOBS: &str = "the reason is kept as a blob, and this process has opened the \
     store without its blobs: open it as the process that wrote it, with a `BlobStore`";

/// An execution, as it was when it was read. [`refreshed`](Execution::refreshed) reads it again;
/// [`settled`](Execution::settled) waits until it is over or waits for people.
#[derive(Clone)]
pub struct Execution {
    owned: Owned,
    row: Row,
}

impl fmt::Debug for Execution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Execution")
            .field("row", &self.row)
            .finish_non_exhaustive()
    }
}

impl Execution {
    pub(crate) fn new(owned: Owned, row: Row) -> Self {
        Execution { owned, row }
    }

    /// Its id.
    pub fn id(&self) -> ExecutionId {
        self.row.id
    }

    /// The name of its flow.
    pub fn flow(&self) -> &str {
        &self.row.flow
    }

    /// The status. An execution that was cancelled and is undone first is
    /// [`Cancelling`](Status::Cancelling) until it is over, whether it runs, is paused or is
    /// [halted](Execution::halted) meanwhile.
    pub fn status(&self) -> Status {
        self.row.shown_status()
    }

    /// The owner, if it has one.
    pub fn owner(&self) -> Option<&str> {
        self.row.owner.as_deref()
    }

    /// The idempotency key, with which a repeated start returns this execution.
    pub fn idempotency_key(&self) -> Option<&str> {
        self.row.idempotency_key.as_deref()
    }

    /// The priority with which it waits for a place: see
    /// [`StartOptions::priority`](crate::StartOptions::priority).
    pub fn priority(&self) -> i32 {
        self.row.priority
    }

    /// The time before which it does not begin, if it was started with one: see
    /// [`StartOptions::not_before`](crate::StartOptions::not_before).
    pub fn not_before(&self) -> Option<SystemTime> {
        self.row.not_before_ms.map(from_ms)
    }

    /// The time at which it continues by itself, if it is paused until a time: the end of a `wait`,
    /// the next attempt or poll, or the expiry of a question.
    pub fn continues_at(&self) -> Option<SystemTime> {
        let paused = self.row.status == Status::Paused;
        self.row.wake_ms.filter(|_| paused).map(from_ms)
    }

    /// The key that it was started with, and how many with it may be under way when it begins: see
    /// [`StartOptions::concurrency_key`](crate::StartOptions::concurrency_key).
    pub fn concurrency_key(&self) -> Option<(&str, u32)> {
        let concurrency = self.row.concurrency.as_ref()?;
        Some((&concurrency.key, concurrency.at_most))
    }

    /// The time at which it was started.
    pub fn created_at(&self) -> SystemTime {
        from_ms(self.row.created_ms)
    }

    /// The time at which its journal last grew.
    pub fn updated_at(&self) -> SystemTime {
        from_ms(self.row.updated_ms)
    }

    /// The original, if it was started as a copy by [`copy`](crate::Executions::copy).
    pub fn copied_from(&self) -> Option<ExecutionId> {
        self.row.copied_from.filter(|_| self.part_of().is_none())
    }

    /// The execution with the loop, if this one runs a part of its items: see [loops over
    /// workers](crate#loops-over-workers). Its [`flow`](Execution::flow) is then the name of the
    /// flow and that of the loop, such as `Report.summaries`.
    pub fn part_of(&self) -> Option<ExecutionId> {
        StoredOptions::part_of(&self.row).map(|part| part.of)
    }

    /// The number of records in its journal. The newest one has this number less one as its
    /// [`seq`](Record::seq).
    pub fn record_count(&self) -> u64 {
        self.row.next_seq
    }

    /// The reason it failed or was cancelled. `None` if neither happened. If the reason is kept as
    /// a blob, and this process has opened the store without its blobs, a text says so.
    pub fn reason(&self) -> Option<&str> {
        let (Status::Failed | Status::Cancelled) = self.row.status else {
            return None;
        };
        let reason = self.row.result.as_deref()?;
        let is_elsewhere = is_blob_marker(reason);
        Some(if is_elsewhere {
            REASON_WITHOUT_BLOBS
        } else {
            free_text(reason)
        })
    }

    /// The reason it is halted, and so does not continue by itself. `None` if it is not halted. All
    /// processes see it: see [when the program has a defect](crate#when-the-program-has-a-defect).
    pub fn halted(&self) -> Option<&str> {
        self.row.halt()
    }

    /// The output as JSON: the outputs by name, and the label of the end as `end`. `None` if it is
    /// not completed.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::Unreadable`]: the stored output is not JSON.
    pub fn output_json(&self) -> Result<Option<Value>, RuntimeError> {
        let (Status::Completed, Some(text)) = (self.row.status, &self.row.result) else {
            return Ok(None);
        };
        if is_blob_marker(text) {
            return Err(self.unreadable(format!("the stored output {WITHOUT_BLOBS}")));
        }
        let unreadable = |error: serde_json::Error| {
            self.unreadable(format!("the stored output is damaged: {error}"))
        };
        serde_json::from_str(text).map(Some).map_err(unreadable)
    }

    /// The output, as the output type of its flow. `None` if it is not completed.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::Unreadable`]: the execution belongs to another flow, or a type has changed
    /// since.
    pub fn output<F: StoredOutput<Json>>(&self) -> Result<Option<F::Output>, RuntimeError> {
        if self.row.flow != F::NAME {
            return Err(self.unreadable(format!(
                "it is an execution of `{}`, not of `{}`",
                self.row.flow,
                F::NAME
            )));
        }
        let Some(output) = self.output_json()? else {
            return Ok(None);
        };
        let Value::Object(output) = output else {
            return Err(self.unreadable("the stored output is no JSON object".to_owned()));
        };
        let output = F::load_output(Saved(output)).map_err(|Unstorable { key, reason }| {
            self.unreadable(format!(
                "the stored output `{key}` does not fit its type: {reason}"
            ))
        })?;
        Ok(Some(output))
    }

    fn unreadable(&self, reason: String) -> RuntimeError {
        RuntimeError::Unreadable {
            execution: self.row.id,
            path: self.row.flow.clone(),
            reason,
        }
    }

    /// Reads the execution again.
    ///
    /// # Errors
    ///
    /// See [`Executions::get`](crate::Executions::get).
    pub async fn refreshed(&self) -> Result<Execution, RuntimeError> {
        let row = self.owned.row(self.row.id).await?;
        Ok(Execution::new(self.owned.clone(), row))
    }

    /// Waits until it is over or waits for people, in this process or another one, and returns it
    /// as it is then. It waits for people if it has an open question, or if only a signal continues
    /// it. It also waits for people if a [part](Execution::part_of) of a loop does and
    /// no other part can continue. One that was answered and that no process has claimed is still
    /// paused, and is returned as such.
    ///
    /// An execution that is [`Cancelling`](Status::Cancelling) waits for nobody: it is returned when
    /// it is over. If this process does not have its flow, another one has to undo it. If none has
    /// taken it for the time of two [leases](crate::RuntimeOptions::lease) and two
    /// [looks for work](crate::RuntimeOptions::look_for_work), this is the error
    /// [`RuntimeError::NotRegistered`]. The execution stays cancelled, and a process that has the
    /// flow undoes it later.
    ///
    /// # Errors
    ///
    /// It cannot continue: the store failed ([`RuntimeError::Store`]), its flow has changed
    /// ([`RuntimeError::FlowChanged`]), something stored cannot be read
    /// ([`RuntimeError::Unreadable`]), a value cannot be stored ([`RuntimeError::Unstorable`]), or
    /// it is [halted](Execution::halted) ([`RuntimeError::Halted`]). It is as it was after its last
    /// record.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future has no effect on the execution.
    pub async fn settled(&self) -> Result<Execution, RuntimeError> {
        let row = self.owned.settled(self.row.id).await?;
        Ok(Execution::new(self.owned.clone(), row))
    }

    /// The open questions, in the order asked: its own, and then those of the
    /// [parts](Execution::part_of) of its loops.
    ///
    /// # Errors
    ///
    /// The store could not be read.
    pub async fn questions(&self) -> Result<Vec<OpenQuestion>, RuntimeError> {
        let questions = self.owned.questions(self.row.id).await?.into_iter();
        Ok(questions
            .map(|(pause, of)| OpenQuestion::new(pause, &of))
            .collect())
    }

    /// The steps that wait for signals, in the order in which they began to wait. Those whose
    /// signal was sent and that no process has continued yet are among them.
    ///
    /// # Errors
    ///
    /// The store could not be read, or a record is damaged.
    pub async fn awaited_signals(&self) -> Result<Vec<AwaitedSignal>, RuntimeError> {
        AwaitedSignal::all(self.row.id, &counting(self.row.id, self.journal().await?)?)
    }

    /// The steps that are done and could be undone, in the order in which they would be: those with
    /// an undo node whose visits were neither undone nor committed. While the execution is
    /// [`Cancelling`](Status::Cancelling), these are the steps that are not undone yet. If it was
    /// [ended without undoing](crate::Executions::end_without_undoing), they are those that stay as
    /// they are. Steps of [parts](Execution::part_of) of its loops are not among them.
    ///
    /// # Errors
    ///
    /// The store could not be read, or a record is damaged.
    pub async fn undoable(&self) -> Result<Vec<UndoableStep>, RuntimeError> {
        self.owned.undoable(&self.row).await
    }

    /// Its events until it is over, from its first record or from after the record that the filter
    /// names. If the filter allows it, the last event is that of its end, and no delta follows it.
    /// While it waits for people, so does the stream. If it is removed, the stream ends.
    ///
    /// # Errors
    ///
    /// The store could not be read.
    ///
    /// # Examples
    ///
    /// A display of the progress, beside the wait for the result:
    ///
    /// ```
    /// use flow_durable::{EventFilter, MemoryStore, RecordKind, Runtime, StartOptions};
    /// use flow_runtime::prelude::*;
    ///
    /// #[node]
    /// fn double(number: u32) -> u32 {
    ///     number * 2
    /// }
    ///
    /// flow! {
    ///     Doubled(numbers: Vec<u32>) -> (doubles: Vec<u32>) {
    ///         node doubles: for number in numbers { double };
    ///         start >> doubles >> end;
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let runtime = Runtime::new(MemoryStore::new());
    /// runtime.register(Doubled::new())?;
    /// let input = DoubledInput { numbers: vec![1, 2, 3] };
    /// let execution = runtime.executions().start::<Doubled>(input, StartOptions::new()).await?;
    ///
    /// let filter = EventFilter::new().kinds([RecordKind::NodeFinished]);
    /// let mut finished = execution.events(filter).await?;
    /// let progress = async {
    ///     let mut done = 0;
    ///     while let Some(event) = finished.next().await.transpose()? {
    ///         if event.record().is_some_and(|record| record.item.is_some()) {
    ///             done += 1;
    ///             println!("{done} of 3");
    ///         }
    ///     }
    ///     Ok(done)
    /// };
    /// let (done, execution) = tokio::try_join!(progress, execution.settled())?;
    /// assert_eq!(done, 3);
    /// assert_eq!(execution.output::<Doubled>()?.unwrap().doubles, [2, 4, 6]);
    /// # Ok(()) }
    /// ```
    pub async fn events(&self, filter: EventFilter) -> Result<Events, RuntimeError> {
        Events::of(self.owned.clone(), filter.whole(self.row.id)).await
    }

    /// Its journal, from the first record that the store still has.
    ///
    /// # Errors
    ///
    /// The store could not be read, a record is damaged, or a record after the first one in the
    /// store is missing.
    pub async fn journal(&self) -> Result<Vec<Record>, RuntimeError> {
        self.owned.journal(self.row.id).await
    }

    /// A part of its journal: at most `limit` records, from the record with this `seq` on, or from
    /// the first one after it that the store still has. If there are fewer than `limit`, the last
    /// of them is the newest record.
    ///
    /// # Errors
    ///
    /// The store could not be read, or a record is damaged.
    pub async fn records(&self, from: u64, limit: usize) -> Result<Vec<Record>, RuntimeError> {
        self.owned.page(self.row.id, from, limit).await
    }

    /// The structure of the flow with which it was started, as JSON:
    /// `flow_spec::FlowDocument::parse_spec` reads it. `None` if the store does not have it.
    ///
    /// # Errors
    ///
    /// The store could not be read.
    pub async fn structure(&self) -> Result<Option<String>, RuntimeError> {
        self.owned.structure(&self.row).await
    }
}

/// A question that waits for an answer.
#[derive(Debug, Clone)]
pub struct OpenQuestion {
    row: PauseRow,
    part_of: Option<ExecutionId>,
}

impl OpenQuestion {
    /// A question of this execution.
    pub(crate) fn new(row: PauseRow, of: &Row) -> Self {
        let part = StoredOptions::part_of(of);
        let part_of = part.map(|part| part.of);
        OpenQuestion { row, part_of }
    }

    /// The token that [`Executions::resume`](crate::Executions::resume) takes.
    pub fn token(&self) -> Token {
        self.row.token
    }

    /// The execution that asks.
    pub fn execution(&self) -> ExecutionId {
        self.row.execution
    }

    /// The execution with the loop, if a [part](Execution::part_of) of a loop asks.
    pub fn part_of(&self) -> Option<ExecutionId> {
        self.part_of
    }

    /// The path of the node that asks, such as `release.approval`.
    pub fn path(&self) -> &str {
        &self.row.path
    }

    /// The step that asks: see [`Record::step`].
    pub fn step(&self) -> &str {
        &self.row.step
    }

    /// The question.
    pub fn prompt(&self) -> &str {
        &self.row.prompt
    }

    /// The type of the answer, as written in Rust.
    pub fn expected(&self) -> &str {
        &self.row.expected
    }

    /// The JSON Schema of the answer: see [`Question::schema`](flow_runtime::Question::schema).
    /// `None` if its form is not known.
    pub fn schema(&self) -> Option<Value> {
        self.row
            .schema
            .as_deref()
            .and_then(|schema| serde_json::from_str(schema).ok())
    }

    /// The time at which it was asked.
    pub fn asked_at(&self) -> SystemTime {
        from_ms(self.row.created_ms)
    }

    /// The time after which it can no longer be answered, if there is a limit.
    pub fn expires_at(&self) -> Option<SystemTime> {
        self.row.expires_ms.map(from_ms)
    }
}

/// The beginning of the idempotency key of a signal that was sent without one.
pub(crate) const OWN_KEY: &str = "flow-durable ";

/// A signal that was sent to an execution and that no step has taken: see
/// [`Executions::untaken_signals`](crate::Executions::untaken_signals).
#[derive(Debug, Clone)]
pub struct UntakenSignal {
    row: SignalRow,
}

impl UntakenSignal {
    pub(crate) fn new(row: SignalRow) -> Self {
        UntakenSignal { row }
    }

    /// The number of the signal within the execution, from 1.
    pub fn number(&self) -> u64 {
        self.row.number
    }

    /// The name of the signal.
    pub fn name(&self) -> &str {
        &self.row.name
    }

    /// The body, as JSON text.
    pub fn body(&self) -> &str {
        &self.row.payload
    }

    /// The idempotency key with which it was sent, if it was sent with one.
    pub fn idempotency_key(&self) -> Option<&str> {
        let key = self.row.key.as_deref();
        key.filter(|key| !key.starts_with(OWN_KEY))
    }

    /// The time at which it was sent.
    pub fn sent_at(&self) -> SystemTime {
        from_ms(self.row.sent_ms)
    }
}

/// A step that waits for a signal: see [`Execution::awaited_signals`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AwaitedSignal {
    path: String,
    name: String,
    expires_ms: Option<u64>,
}

impl AwaitedSignal {
    /// The path of the node, such as `order.cancel_request`.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The name of the signal.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The time at which the wait ends, if it is limited.
    pub fn expires_at(&self) -> Option<SystemTime> {
        self.expires_ms.map(from_ms)
    }

    /// The steps that wait after these records of an execution, in the order in which they began.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::DamagedRecord`].
    pub(crate) fn all(
        execution: ExecutionId,
        records: &[Record],
    ) -> Result<Vec<AwaitedSignal>, RuntimeError> {
        let mut waiting: BTreeMap<&str, &Record> = BTreeMap::new();
        for record in records {
            let step = record.step.as_str();
            let with_itself = match record.kind {
                RecordKind::Awaiting => {
                    waiting.insert(step, record);
                    continue;
                }
                RecordKind::Received | RecordKind::NodeFinished | RecordKind::NodeFailed => true,
                RecordKind::FlowFailed | RecordKind::TimedOut => false,
                kind if is_end(kind) => {
                    waiting.clear();
                    continue;
                }
                _ => continue,
            };
            // The other branches of a race end with it, and have no records of their own.
            let within = StepKey::new(step).within(&waiting);
            let over = within.filter(|(other, _)| with_itself || *other != step);
            let over: Vec<&str> = over.map(|(_, record)| record.step.as_str()).collect();
            for step in over {
                waiting.remove(step);
            }
        }
        let mut waiting: Vec<&Record> = waiting.into_values().collect();
        waiting.sort_unstable_by_key(|record| record.seq);
        let awaited = waiting.into_iter().filter_map(|record| {
            let Entry::Awaiting(awaited) = Entry::read(execution, record) else {
                return None;
            };
            Some(awaited.read().map(|awaited| AwaitedSignal {
                path: record.path.clone(),
                name: awaited.signal,
                expires_ms: awaited.expires_ms,
            }))
        });
        awaited.collect()
    }
}
