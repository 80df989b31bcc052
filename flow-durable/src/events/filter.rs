//! Which events a subscriber gets.

use flow_store::{ExecutionId, Record, RecordKind};

use super::pattern::{InvalidPattern, Pattern};

/// Which events [`Runtime::events`](crate::Runtime::events) gives: those that all of its parts
/// allow.
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
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct EventFilter {
    pub(super) execution: Option<ExecutionId>,
    pub(super) kinds: Option<Vec<RecordKind>>,
    pub(super) paths: Vec<Pattern>,
    pub(super) after: Option<u64>,
    pub(super) until_now: bool,
    pub(super) deltas: bool,
}

impl EventFilter {
    /// All records from now on, and no deltas.
    pub fn new() -> Self {
        EventFilter::default()
    }

    /// Only those of this execution.
    pub fn execution(mut self, id: ExecutionId) -> Self {
        self.execution = Some(id);
        self
    }

    /// Only records of these kinds, in addition to those of earlier calls. Deltas are of no kind:
    /// see [`deltas`](EventFilter::deltas).
    pub fn kinds(mut self, kinds: impl IntoIterator<Item = RecordKind>) -> Self {
        self.kinds.get_or_insert_default().extend(kinds);
        self
    }

    /// Only those whose path this [`Pattern`] matches, or that of an earlier call.
    ///
    /// # Errors
    ///
    /// [`InvalidPattern`]: it is not a pattern.
    pub fn path(mut self, pattern: &str) -> Result<Self, InvalidPattern> {
        self.paths.push(pattern.parse()?);
        Ok(self)
    }

    /// Beginning after the record of this offset, such as the last one that was seen, instead of
    /// now.
    ///
    /// The offsets are one sequence for the whole store: any stream, whatever its owner and its
    /// filter, goes on from any of them, and writers need not wait for one another to count.
    /// The gaps between those that somebody sees tell how much is written in all, and neither
    /// what nor by whom. Where that is too much to tell, hand out the offset encrypted.
    pub fn from_offset(mut self, offset: u64) -> Self {
        self.after = Some(offset);
        self
    }

    /// Beginning with the oldest record that the store has, instead of now.
    pub fn from_start(self) -> Self {
        self.from_offset(0)
    }

    /// Ends with the newest record that the store has now: a look at what was, without deltas.
    pub fn until_now(mut self) -> Self {
        self.until_now = true;
        self
    }

    /// Also what nodes emit ([`Context::emit`](flow_runtime::Context::emit)) in this process while
    /// somebody listens: deltas are not stored.
    pub fn deltas(mut self) -> Self {
        self.deltas = true;
        self
    }

    pub(super) fn is_of(&self, execution: ExecutionId) -> bool {
        self.execution.is_none_or(|of| of == execution)
    }

    pub(super) fn allows(&self, record: &Record) -> bool {
        let kinds = self.kinds.as_ref();
        kinds.is_none_or(|kinds| kinds.contains(&record.kind)) && self.allows_path(&record.path)
    }

    pub(super) fn allows_path(&self, path: &str) -> bool {
        self.paths.is_empty() || self.paths.iter().any(|pattern| pattern.matches(path))
    }
}
