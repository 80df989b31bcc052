//! The result of listing executions, including damaged ones.

use std::ops::Deref;
use std::time::{Duration, SystemTime};

use flow_store::{Damaged, ExecutionId, ListQuery, Status, to_ms};

use super::execution::Execution;

/// The result of [`Executions::list`](super::Executions::list) and
/// [`Executions::expire`](super::Executions::expire): executions, which it dereferences to as a
/// slice, and the damaged data among them.
///
/// # Examples
///
/// ```
/// use flow_durable::{ListOptions, MemoryStore, Runtime};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), flow_durable::RuntimeError> {
/// let runtime = Runtime::new(MemoryStore::new());
/// let listed = runtime.executions().list(ListOptions::new()).await?;
/// for damaged in listed.damaged() {
///     eprintln!("{damaged}");
/// }
/// for execution in &listed {
///     println!("{} is {}", execution.id(), execution.status());
/// }
/// # assert!(listed.is_empty() && listed.damaged().is_empty());
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Default)]
pub struct Listed {
    pub(super) executions: Vec<Execution>,
    pub(super) damaged: Vec<Damaged>,
    limit: Option<usize>,
}

impl Listed {
    /// An empty list with this limit.
    pub(super) fn limited(limit: Option<usize>) -> Self {
        Listed {
            limit,
            ..Listed::default()
        }
    }

    /// The start of the next page, for [`ListOptions::before`]. `None` if the list has fewer
    /// executions than its limit: then it is the last page.
    pub fn next_page(&self) -> Option<ExecutionId> {
        let is_full = self
            .limit
            .is_some_and(|limit| self.executions.len() >= limit);
        let last = self.executions.last()?;
        is_full.then(|| last.id())
    }

    /// The data that could not be read, which may or may not belong among the executions. Empty
    /// unless the store is damaged.
    pub fn damaged(&self) -> &[Damaged] {
        &self.damaged
    }
}

impl Deref for Listed {
    type Target = [Execution];

    fn deref(&self) -> &[Execution] {
        &self.executions
    }
}

impl IntoIterator for Listed {
    type Item = Execution;
    type IntoIter = std::vec::IntoIter<Execution>;

    fn into_iter(self) -> Self::IntoIter {
        self.executions.into_iter()
    }
}

impl<'a> IntoIterator for &'a Listed {
    type Item = &'a Execution;
    type IntoIter = std::slice::Iter<'a, Execution>;

    fn into_iter(self) -> Self::IntoIter {
        self.executions.iter()
    }
}

/// Selects the executions that [`Executions::list`](super::Executions::list) returns.
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct ListOptions {
    pub(super) query: ListQuery,
    pub(super) created_before: Option<Duration>,
    pub(super) untouched_for: Option<Duration>,
}

impl ListOptions {
    /// All executions.
    pub fn new() -> Self {
        ListOptions::default()
    }

    /// Selects only executions of this flow.
    pub fn flow(mut self, name: impl Into<String>) -> Self {
        self.query.flow = Some(name.into());
        self
    }

    /// Selects only executions with this [status](Execution::status).
    pub fn status(mut self, status: Status) -> Self {
        self.query = self.query.with_status(status);
        self
    }

    /// With `true`, selects only executions that are [halted](Execution::halted); with `false`,
    /// only the others.
    pub fn halted(mut self, halted: bool) -> Self {
        self.query.halted = Some(halted);
        self
    }

    /// With `true`, selects only executions with an open question of their own; with `false`, only
    /// the others. The parts of a loop are executions too.
    pub fn asks(mut self, asks: bool) -> Self {
        self.query.asks = Some(asks);
        self
    }

    /// Selects only executions that were started at this time or later.
    pub fn started_from(mut self, time: SystemTime) -> Self {
        self.query.created_from_ms = Some(to_ms(time));
        self
    }

    /// Selects only executions that were started before this time.
    pub fn started_before(mut self, time: SystemTime) -> Self {
        self.query.created_before_ms = Some(to_ms(time));
        self
    }

    /// Selects only copies of this execution: see [`Executions::copy`](super::Executions::copy).
    pub fn copies_of(mut self, execution: ExecutionId) -> Self {
        self.query.copied_from = Some(execution);
        self
    }

    /// Selects only executions that were started longer ago than this.
    pub fn older_than(mut self, age: Duration) -> Self {
        self.created_before = Some(age);
        self
    }

    /// Selects only executions whose journal has not grown for this long.
    pub fn untouched_for(mut self, time: Duration) -> Self {
        self.untouched_for = Some(time);
        self
    }

    /// At most this many executions.
    pub fn limit(mut self, executions: usize) -> Self {
        self.query.limit = Some(executions);
        self
    }

    /// Selects only executions that are older than this one: the next page, if this one is the
    /// [`next_page`](Listed::next_page) of the page before.
    pub fn before(mut self, execution: ExecutionId) -> Self {
        self.query.before = Some(execution);
        self
    }
}
