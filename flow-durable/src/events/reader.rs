//! Reads the log of a store continuously.
//!
//! The store is the buffer: a slow subscriber only reads later. The difficulty is the position of
//! deltas, which are not stored. Each delta knows the number of the record after it, and is held
//! until the records before that one have been passed.

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use flow_store::{DamagedRecord, ExecutionId, Logged, StoreError};
use futures_util::future::select;

use super::event::{DeltaEvent, ExecutionEvent, MissedDeltas, RecordedEvent};
use super::executions::{Described, Executions};
use crate::deltas::{Delta, Listener, Waiting};
use crate::entry::is_end;
use crate::error::RuntimeError;
use crate::filter::EventFilter;
use crate::owned::Owned;
use crate::values::NodeValues;

/// The initial and the maximum number of records that are read at once. A page has about as many
/// bytes as the filter reads ahead.
const PAGE: [usize; 2] = [32, 256];

/// The size of a record without its texts, in bytes.
const OTHERWISE: usize = 256;

/// The maximum number of deltas that are held.
const HELD: usize = 1024;

/// The delay before the reader retries after the store has failed.
const TRY_AGAIN: Duration = Duration::from_millis(250);

type Entry = Result<Logged, DamagedRecord>;

/// A delta whose turn has not come, and its approximate size in bytes.
#[derive(Debug)]
struct Held {
    event: DeltaEvent,
    bytes: usize,
}

pub(super) type Item = Result<ExecutionEvent, RuntimeError>;

#[derive(Debug)]
pub(super) struct Reader {
    owned: Owned,
    filter: EventFilter,
    /// The offset of the newest record that was passed.
    passed: u64,
    /// The offset of the last requested record.
    until: Option<u64>,
    page: VecDeque<Entry>,
    /// The number of records of the next page.
    limit: usize,
    deltas: Option<Arc<Listener>>,
    /// Deltas whose nodes have not been looked up yet.
    received: VecDeque<Waiting>,
    /// Deltas whose turn has not come.
    held: VecDeque<Held>,
    /// The number of missed deltas that are not reported yet.
    lost: u64,
    missed: Arc<AtomicU64>,
    executions: Executions,
    has_failed: bool,
    /// True if nothing has arrived for a while, so that an execution may have ended unnoticed.
    is_idle: bool,
    /// True if the filter reads until the end of an execution, and the execution is over.
    over: bool,
}

impl Reader {
    pub(super) async fn new(
        owned: Owned,
        filter: EventFilter,
        missed: Arc<AtomicU64>,
    ) -> Result<Self, StoreError> {
        if !filter.until_now {
            owned.shared.keep_listening();
        }
        let deltas = filter.deltas && !filter.until_now;
        let listen = || {
            owned
                .shared
                .deltas
                .listen(owned.owners().clone(), filter.clone())
        };
        let deltas = deltas.then(listen);
        let now = match filter.after {
            Some(_) if !filter.until_now => 0,
            _ => owned.shared.store.last_offset().await?,
        };
        Ok(Reader {
            passed: filter.after.unwrap_or(now),
            until: filter.until_now.then_some(now),
            owned,
            filter,
            page: VecDeque::new(),
            limit: PAGE[0],
            deltas,
            received: VecDeque::new(),
            held: VecDeque::new(),
            lost: 0,
            missed,
            executions: Executions::default(),
            has_failed: false,
            is_idle: false,
            over: false,
        })
    }

    /// The next events, and an error after them if the store fails. Empty at the end of the stream.
    pub(super) async fn read(&mut self) -> VecDeque<Item> {
        if std::mem::take(&mut self.has_failed) {
            tokio::time::sleep(TRY_AGAIN).await;
        }
        let mut events = VecDeque::new();
        if let Err(error) = self.fill(&mut events).await {
            self.has_failed = true;
            events.push_back(Err(error.into()));
        }
        events
    }

    async fn fill(&mut self, events: &mut VecDeque<Item>) -> Result<(), StoreError> {
        let shared = self.owned.shared.clone();
        loop {
            // Before looking at the store, so that no write between the look and the wait goes
            // unnoticed.
            let committed = pin!(shared.committed.notified());
            let mut full = false;
            if self.page.is_empty() && !self.is_at_end() {
                let is_gone = std::mem::take(&mut self.is_idle) && self.is_gone().await?;
                let (of, limit) = (self.filter.execution, self.limit);
                let page = shared.store.log(of, self.passed, limit).await?;
                full = page.len() == limit;
                self.keep(page);
                if self.page.is_empty() {
                    self.executions.caught_up();
                    self.until = self.until.map(|_| self.passed);
                    self.over |= is_gone;
                }
            }
            let had_page = !self.page.is_empty();
            self.take_deltas(events).await?;
            self.pass_page(events).await?;
            self.release(events, None);
            if !events.is_empty() || self.is_at_end() {
                return Ok(());
            }
            if full {
                // A store that is always ready would keep the task from doing anything else.
                tokio::task::yield_now().await;
            }
            if !had_page && !self.executions.is_behind() {
                self.wait(committed).await;
            }
        }
    }

    /// Keeps as many records of a page as may be read ahead, and at least one. The others are read
    /// again.
    fn keep(&mut self, page: Vec<Entry>) {
        let mut bytes = 0;
        let mut kept = 0;
        for entry in &page {
            bytes += entry.as_ref().map_or(OTHERWISE, bytes_of);
            if kept > 0 && bytes > self.filter.read_ahead_bytes {
                break;
            }
            kept += 1;
        }
        let each = bytes / kept.max(1);
        if let Some(limit) = self.filter.read_ahead_bytes.checked_div(each) {
            self.limit = limit.clamp(1, PAGE[1]);
        }
        self.page = page.into_iter().take(kept).collect();
    }

    fn is_at_end(&self) -> bool {
        self.over || self.until.is_some_and(|until| self.passed >= until)
    }

    /// Returns true if the execution whose end is awaited was removed, or is over although no
    /// readable record said so.
    async fn is_gone(&self) -> Result<bool, StoreError> {
        let (true, Some(id)) = (self.filter.until_over, self.filter.execution) else {
            return Ok(false);
        };
        match self.owned.shared.store.execution(id).await {
            Ok(row) => Ok(row.is_none_or(|row| row.status.is_over())),
            Err(StoreError::Corrupt { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    async fn pass_page(&mut self, events: &mut VecDeque<Item>) -> Result<(), StoreError> {
        while let Some(entry) = self.page.pop_front() {
            let offset = match &entry {
                Ok(logged) => logged.offset,
                Err(record) => record.offset,
            };
            if self.until.is_some_and(|until| offset > until) {
                self.page.clear();
                self.until = Some(self.passed);
                return Ok(());
            }
            let passed = match &entry {
                Ok(logged) => self.pass(logged, events).await,
                Err(record) => self.pass_damaged(record, events).await,
            };
            if let Err(error) = passed {
                self.page.push_front(entry);
                return Err(error);
            }
            self.passed = offset;
        }
        Ok(())
    }

    async fn pass(
        &mut self,
        logged: &Logged,
        events: &mut VecDeque<Item>,
    ) -> Result<(), StoreError> {
        let is_ours = self.owned.owners().include(logged.owner.as_deref());
        if !is_ours || !self.filter.is_of(logged.execution) {
            return Ok(());
        }
        let shared = self.owned.shared.clone();
        let described = if self.filter.allows(&logged.record) {
            Some(self.executions.describe(&*shared.store, logged).await?)
        } else {
            None
        };
        let values = if self.filter.values {
            self.executions.values(&shared, logged).await?
        } else {
            None
        };
        self.release(events, Some((logged.execution, logged.record.seq)));
        self.tell_damaged(events);
        let values = values.transpose().unwrap_or_else(|error| {
            self.executions.keep_damage(logged.execution, error);
            None
        });
        // Damage follows an event, so that whoever continues from there does not meet it again.
        if let Some(mut described) = described {
            let damaged = self.executions.take_damage(logged.execution);
            let damaged = damaged.or(described.damaged.take());
            events.push_back(Ok(recorded(logged.clone(), described, values)));
            events.extend(damaged.map(Err));
        }
        self.executions.passed(logged);
        if self.filter.until_over && self.is_last(logged).await? {
            self.over = true;
            self.page.clear();
        }
        Ok(())
    }

    /// Returns true if an execution is over with this record, and was not retried then.
    async fn is_last(&self, logged: &Logged) -> Result<bool, StoreError> {
        if !is_end(logged.record.kind) {
            return Ok(false);
        }
        let store = &self.owned.shared.store;
        let row = store.without_result(logged.execution).await?;
        Ok(row.is_none_or(|row| row.next_seq <= logged.record.seq + 1))
    }

    /// Handles a record that cannot be read. The filter might allow it, so it is reported to its
    /// owner. If the owner is not known, it is reported to everyone, without the execution.
    async fn pass_damaged(
        &mut self,
        record: &DamagedRecord,
        events: &mut VecDeque<Item>,
    ) -> Result<(), StoreError> {
        let mut damaged = record.damaged.clone();
        if let Some(id) = damaged.execution {
            let owner = match self.owned.shared.store.execution(id).await {
                Ok(row) => row.map(|row| row.owner),
                Err(StoreError::Corrupt { .. }) => None,
                Err(error) => return Err(error),
            };
            let is_ours = owner
                .as_ref()
                .map(|owner| self.owned.owners().include(owner.as_deref()));
            if is_ours == Some(false) || !self.filter.is_of(id) {
                return Ok(());
            }
            if is_ours.is_none() {
                damaged.execution = None;
                damaged.place = format!("the record with the offset {}", record.offset);
            }
        }
        events.push_back(Err(damaged.into()));
        Ok(())
    }

    /// Passes on the damage that was found while executions were looked up.
    fn tell_damaged(&mut self, events: &mut VecDeque<Item>) {
        let damaged = self.executions.take_damaged();
        events.extend(damaged.map(|damaged| Err(damaged.into())));
    }

    /// Takes the deltas that have arrived, and looks up their nodes.
    async fn take_deltas(&mut self, events: &mut VecDeque<Item>) -> Result<(), StoreError> {
        if let Some(listener) = &self.deltas {
            let (came, lost) = listener.take();
            self.received.extend(came);
            self.lost += lost;
        }
        let shared = self.owned.shared.clone();
        while let Some(waiting) = self.received.front() {
            let looked = self
                .executions
                .look_up(&*shared.store, waiting.delta.execution);
            let structure = looked.await?.unwrap_or_default();
            if let Some(Waiting { delta, bytes }) = self.received.pop_front() {
                let node_type = structure.type_at(&delta.path);
                let event = delta_event(delta, node_type);
                self.held.push_back(Held { event, bytes });
            }
        }
        self.tell_damaged(events);
        let mut bytes: usize = self.held.iter().map(|held| held.bytes).sum();
        while self.held.len() > 1
            && (self.held.len() > HELD || bytes > self.filter.read_ahead_bytes)
            && let Some(oldest) = self.held.pop_front()
        {
            bytes -= oldest.bytes;
            self.lost += 1;
        }
        let deltas = std::mem::take(&mut self.lost);
        if deltas > 0 {
            self.missed.fetch_add(deltas, Ordering::Relaxed);
            let at_ms = shared.now_ms();
            let missed = MissedDeltas { deltas, at_ms };
            events.push_back(Ok(ExecutionEvent::Missed(missed)));
        }
        Ok(())
    }

    /// Releases the deltas whose turn has come, or comes with this record.
    fn release(&mut self, events: &mut VecDeque<Item>, record: Option<(ExecutionId, u64)>) {
        for held in std::mem::take(&mut self.held) {
            let delta = &held.event;
            if self.executions.is_over(delta.execution) {
                continue; // It was cancelled, and its process had not noticed.
            }
            let comes = match record {
                Some((execution, seq)) => delta.execution == execution && delta.next_seq <= seq,
                None => self.executions.has_passed(delta.execution, delta.next_seq),
            };
            if comes {
                events.push_back(Ok(ExecutionEvent::Delta(held.event)))
            } else {
                self.held.push_back(held)
            }
        }
    }

    /// Waits until there may be something new.
    async fn wait(&mut self, committed: impl Future<Output = ()> + Unpin) {
        let again = self.owned.shared.hints.look_again();
        let mut later = pin!(tokio::time::sleep(again));
        let look = select(committed, later.as_mut());
        match &self.deltas {
            Some(listener) => drop(select(look, pin!(listener.came())).await),
            None => drop(look.await),
        }
        self.is_idle = later.is_elapsed();
    }
}

/// The approximate size of a record in bytes.
fn bytes_of(logged: &Logged) -> usize {
    let record = &logged.record;
    let owner = logged.owner.as_ref().map_or(0, String::len);
    record.payload.len() + record.path.len() + record.step.len() + owner + OTHERWISE
}

fn recorded(logged: Logged, described: Described, values: Option<NodeValues>) -> ExecutionEvent {
    ExecutionEvent::Recorded(RecordedEvent {
        offset: logged.offset,
        execution: logged.execution,
        node_type: described.node_type,
        record: logged.record,
        attempts: described.attempts,
        duration: described.duration,
        values: values.map(Box::new),
    })
}

fn delta_event(delta: Delta, node_type: Arc<str>) -> DeltaEvent {
    let Delta {
        execution,
        path,
        step,
        visit,
        index,
        next_seq,
        at_ms,
        content,
    } = delta;
    DeltaEvent {
        execution,
        node_type,
        path,
        step,
        visit,
        index,
        next_seq,
        at_ms,
        content,
    }
}
