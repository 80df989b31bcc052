//! The writes of a driver: the records of its run, and the run's end.

use std::future::Future;
use std::task::{Context, Poll};
use std::time::Duration;

use flow_runtime::engine::Place;
use flow_store::refusal::newest_snapshot;
use flow_store::{Append, RecordKind, Row, Status, StoreError};

use super::waiting::{Waiting, WriteState};
use super::{Driven, Driver};
use crate::error::RuntimeError;
use crate::journal::{Journal, NewRecord, Pending};

/// The longest time for which records that nobody waits for stay unwritten.
const FLUSH_AFTER: Duration = Duration::from_millis(20);

impl Driver {
    /// Writes pending records. Ready when they are written, pending if there is nothing to do.
    pub(super) fn poll_append(
        &mut self,
        waiting: &mut Waiting,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), RuntimeError>> {
        if !waiting.write.is_under_way() && self.is_append_due(waiting, cx) {
            let pending = self.take_pending();
            let next_seq = pending.next_seq;
            let path = Journal::first_pending_path(&pending.append);
            waiting.write = WriteState::Writing {
                append: Box::pin(self.write(pending)),
                next_seq,
                path,
            };
        }
        let WriteState::Writing {
            append,
            next_seq,
            path,
        } = &mut waiting.write
        else {
            return Poll::Pending;
        };
        match append.as_mut().poll(cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(result) => {
                let (next_seq, path) = (*next_seq, path.take());
                waiting.write = WriteState::Idle;
                if result.is_ok() {
                    self.suspicion.end();
                    self.journal.stored(next_seq);
                    self.engine.tell_stored();
                    self.committed.notify_waiters();
                }
                Poll::Ready(result.map_err(|error| {
                    RuntimeError::store(Some(self.journal.execution()), path, error)
                }))
            }
        }
    }

    /// Writes records, in the transaction of a step if there is one.
    fn write(
        &self,
        pending: Pending,
    ) -> impl Future<Output = Result<(), StoreError>> + Send + 'static {
        let (store, id, fence) = (self.store.clone(), self.journal.execution(), self.row.fence);
        async move {
            match pending.transaction {
                None => store.append(id, fence, pending.append).await,
                Some(transaction) => transaction.append(id, fence, pending.append).await,
            }
        }
    }

    fn take_pending(&mut self) -> Pending {
        let pending = self.journal.take_pending();
        let append = &pending.append;
        let row = &mut self.row;
        row.updated_ms = append.now_ms;
        row.next_seq = pending.next_seq;
        row.snapshot_seq = newest_snapshot(&append.records).or(row.snapshot_seq);
        pending
    }

    fn is_append_due(&self, waiting: &mut Waiting, cx: &mut Context<'_>) -> bool {
        if self.journal.keeps_writes() {
            return false;
        }
        if self.journal.is_urgent() {
            return true;
        }
        if !self.journal.has_pending() {
            return false;
        }
        if self.journal.begins_no_more() {
            return true;
        }
        waiting.write.poll_time(FLUSH_AFTER, cx).is_ready()
    }

    /// Writes the status of the run, and gives up its claim.
    pub(super) async fn end(
        &mut self,
        status: Status,
        last: Option<(RecordKind, String)>,
    ) -> Driven {
        let mut result = None;
        if let Some((kind, payload)) = last {
            let place = Place {
                path: self.path.clone(),
                step: self.path.clone(),
                visit: 0,
                item: None,
            };
            result = Some(payload.clone());
            self.journal.add(NewRecord {
                kind,
                place: &place,
                attempt: 0,
                payload,
            });
        }
        let pending = self.take_pending();
        let next_seq = pending.next_seq;
        let path = Journal::first_pending_path(&pending.append);
        let path = path.unwrap_or_else(|| self.path.clone());
        let append = Append {
            status: Some(status),
            result: result.clone(),
            release: true,
            timer_ms: match status {
                Status::Paused => self.journal.pause_timer(),
                _ => None,
            },
            awaited: match status {
                Status::Paused => self.journal.awaited_signals(),
                _ => Vec::new(),
            },
            ..pending.append
        };
        let pending = Pending { append, ..pending };
        let (asked, wake_ms) = (self.journal.asked(), self.journal.wakes_at());
        let parts = self.journal.awaited_parts();
        let signals = self.journal.awaited_signals();
        let id = self.journal.execution();
        if let Err(error) = self.write(pending).await {
            return Driven::Halted(RuntimeError::store(Some(id), Some(path), error));
        }
        self.journal.stored(next_seq);
        self.engine.tell_stored();
        self.committed.notify_waiters();
        match status {
            Status::Paused => Driven::Paused {
                asked,
                signals,
                parts,
                wake_ms,
            },
            over => Driven::Over(Box::new(Row {
                status: over,
                result,
                wake_ms: None,
                ..self.row.clone()
            })),
        }
    }
}
