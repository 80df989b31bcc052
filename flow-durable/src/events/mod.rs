//! The events of executions: their journals as a stream.

mod event;
mod executions;
mod reader;
mod statistics;
mod structure;
mod values;

use std::collections::VecDeque;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use futures_util::Stream;

pub use event::{DeltaEvent, ExecutionEvent, MissedDeltas, RecordedEvent};
pub use statistics::EventStatistics;

use super::error::RuntimeError;
use super::filter::EventFilter;
use super::owned::Owned;
use reader::{Item, Reader};

/// The stream of [`Execution::events`](crate::Execution::events), which ends with its execution, or
/// of [`Executions::events`](crate::Executions::events), which never ends unless the filter asked
/// only for [the records that there are now](EventFilter::until_now).
///
/// If the store fails, the stream returns the error and continues where it was: the next item is
/// the next event or, after a while, the next error. A damaged record is one error in its place
/// ([`RuntimeError::Store`] with [`StoreError::Corrupt`](super::StoreError::Corrupt)), and the
/// stream continues with the record after it. A damaged payload is an event followed by
/// [`RuntimeError::DamagedRecord`]. Other damaged parts of an execution are reported in the same
/// way. Its events then contain only the data of its records.
#[must_use = "a stream reads nothing unless it is asked for its items"]
pub struct Events {
    ready: VecDeque<Item>,
    reading: Reading,
    missed: Arc<AtomicU64>,
}

/// A reader and the items that it has read.
type Read = (Box<Reader>, VecDeque<Item>);

enum Reading {
    Idle(Box<Reader>),
    Busy(Pin<Box<dyn Future<Output = Read> + Send>>),
    Ended,
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Events")
            .field("ready", &self.ready.len())
            .field("missed", &self.missed())
            .finish_non_exhaustive()
    }
}

impl Events {
    pub(crate) async fn of(owned: Owned, filter: EventFilter) -> Result<Events, RuntimeError> {
        let missed = Arc::new(AtomicU64::new(0));
        let reader = Reader::new(owned, filter, missed.clone()).await?;
        Ok(Events {
            ready: VecDeque::new(),
            reading: Reading::Idle(Box::new(reader)),
            missed,
        })
    }

    /// The next event.
    ///
    /// # Errors
    ///
    /// The store could not be read.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, no event is lost: the next call continues where this one was.
    pub async fn next(&mut self) -> Option<Result<ExecutionEvent, RuntimeError>> {
        poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }

    /// The number of deltas that this subscriber has missed because it was slow. Only those that it
    /// asked for and may see are counted.
    pub fn missed(&self) -> u64 {
        self.missed.load(Ordering::Relaxed)
    }
}

impl Stream for Events {
    type Item = Result<ExecutionEvent, RuntimeError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        loop {
            if let Some(event) = this.ready.pop_front() {
                return Poll::Ready(Some(event));
            }
            if let Reading::Busy(reading) = &mut this.reading {
                let Poll::Ready((reader, events)) = reading.as_mut().poll(cx) else {
                    return Poll::Pending;
                };
                this.reading = if events.is_empty() {
                    Reading::Ended
                } else {
                    Reading::Idle(reader)
                };
                this.ready = events;
            }
            this.reading = match std::mem::replace(&mut this.reading, Reading::Ended) {
                Reading::Ended => return Poll::Ready(None),
                Reading::Idle(reader) if this.ready.is_empty() => {
                    let mut reader = reader;
                    Reading::Busy(Box::pin(async move {
                        let events = reader.read().await;
                        (reader, events)
                    }))
                }
                reading => reading,
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_a_stream_that_tasks_can_own() {
        fn is_stream<S: Stream<Item = Item> + Send + Unpin + 'static>() {}
        is_stream::<Events>();
    }
}
