//! The filter for the events of a subscriber.

mod pattern;

use flow_store::{ExecutionId, Record, RecordKind};

pub use pattern::{InvalidPattern, Pattern};

/// The number of bytes read ahead of a subscriber, unless the filter sets another.
const READ_AHEAD: usize = 1024 * 1024;

/// Selects the events that [`Executions::events`](crate::Executions::events) returns: those that
/// every part of the filter allows.
///
/// # Examples
///
/// ```
/// use flow_durable::{EventFilter, RecordKind};
///
/// # fn main() -> Result<(), flow_durable::InvalidPattern> {
/// let failures = EventFilter::new()
///     .kinds([RecordKind::NodeFailed, RecordKind::RunFailed])
///     .path("research.agent.*")?
///     .from_start();
/// # let _ = failures;
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct EventFilter {
    pub(crate) execution: Option<ExecutionId>,
    kinds: Option<Vec<RecordKind>>,
    paths: Vec<Pattern>,
    pub(crate) after: Option<u64>,
    pub(crate) until_now: bool,
    pub(crate) deltas: bool,
    pub(crate) until_over: bool,
    pub(crate) values: bool,
    pub(crate) read_ahead_bytes: usize,
}

impl Default for EventFilter {
    fn default() -> Self {
        EventFilter::new()
    }
}

impl EventFilter {
    /// A filter for all records from now on, without deltas.
    pub fn new() -> Self {
        EventFilter {
            execution: None,
            kinds: None,
            paths: Vec::new(),
            after: None,
            until_now: false,
            deltas: false,
            until_over: false,
            values: false,
            read_ahead_bytes: READ_AHEAD,
        }
    }

    /// Selects only events of this execution.
    pub fn execution(mut self, id: ExecutionId) -> Self {
        self.execution = Some(id);
        self
    }

    /// Selects only records of these kinds, in addition to those of earlier calls. Deltas have no
    /// kind: see [`deltas`](EventFilter::deltas).
    pub fn kinds(mut self, kinds: impl IntoIterator<Item = RecordKind>) -> Self {
        self.kinds.get_or_insert_default().extend(kinds);
        self
    }

    /// Selects only events whose path matches this [`Pattern`], or that of an earlier call.
    ///
    /// # Errors
    ///
    /// [`InvalidPattern`]: it is not a pattern.
    pub fn path(mut self, pattern: &str) -> Result<Self, InvalidPattern> {
        self.paths.push(pattern.parse()?);
        Ok(self)
    }

    /// Starts after the record with this offset, such as the last one that was seen, instead of
    /// now.
    ///
    /// The offsets are one sequence for the whole store. A stream of any owner and filter can
    /// continue from any of them, and writers need not wait for each other to count. The gaps
    /// between the offsets that a subscriber sees reveal how much is written in total, but not what
    /// or by whom. If that reveals too much, hand out the offset encrypted.
    pub fn from_offset(mut self, offset: u64) -> Self {
        self.after = Some(offset);
        self
    }

    /// Starts with the oldest record in the store, instead of now.
    pub fn from_start(self) -> Self {
        self.from_offset(0)
    }

    /// Ends with the newest record that the store has now. The stream contains no deltas.
    pub fn until_now(mut self) -> Self {
        self.until_now = true;
        self
    }

    /// Includes the deltas that nodes emit ([`Context::emit`](flow_runtime::Context::emit)) in this
    /// process while somebody listens. Deltas are not stored.
    pub fn deltas(mut self) -> Self {
        self.deltas = true;
        self
    }

    /// Adds values to the events, in short:
    /// [`RecordedEvent::values`](crate::RecordedEvent::values). These are a node's settings
    /// ([`NodeValues::params`](crate::NodeValues::params)), what it reads when it is reached and
    /// writes when it takes an action, and the number of a loop's items. They come from the
    /// structure of the flow and the records from the newest snapshot on, and cost the run nothing.
    /// Values can be secret: show them only to those who may see them.
    pub fn values(mut self) -> Self {
        self.values = true;
        self
    }

    /// Sets how many bytes of records may wait in memory for the subscriber: 1 MiB by default. A
    /// single larger record is read anyway. The store has all records, so a slow subscriber misses
    /// none. The same limit applies to deltas. A slow subscriber misses the older deltas, and is
    /// notified.
    pub fn read_ahead(mut self, bytes: usize) -> Self {
        self.read_ahead_bytes = bytes;
        self
    }

    /// Selects only events of this execution: from its first record, unless the filter says from
    /// where, and until it is over.
    pub(crate) fn whole(mut self, id: ExecutionId) -> Self {
        self.execution = Some(id);
        self.after.get_or_insert(0);
        self.until_over = true;
        self
    }

    pub(crate) fn is_of(&self, execution: ExecutionId) -> bool {
        self.execution.is_none_or(|of| of == execution)
    }

    pub(crate) fn allows(&self, record: &Record) -> bool {
        let kinds = self.kinds.as_ref();
        kinds.is_none_or(|kinds| kinds.contains(&record.kind)) && self.allows_path(&record.path)
    }

    pub(crate) fn allows_path(&self, path: &str) -> bool {
        self.paths.is_empty() || self.paths.iter().any(|pattern| pattern.matches(path))
    }
}
