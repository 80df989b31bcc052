//! The events of executions: their journals as a stream.

mod chunks;
mod deltas;
mod event;
mod executions;
mod filter;
mod isolated;
mod pattern;
mod reader;
mod structure;

use std::collections::VecDeque;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use futures_util::Stream;

pub(crate) use chunks::Chunks;
pub(crate) use deltas::{Deltas, Emitter};
pub use event::{DeltaEvent, ExecutionEvent, MissedDeltas, RecordedEvent};
pub use filter::EventFilter;
pub(crate) use isolated::Isolated;
pub use pattern::{InvalidPattern, Pattern};

use super::error::RuntimeError;
use super::runtime::Runtime;
use reader::{Item, Reader};

impl Runtime {
    /// The journals of the owner's executions as a stream, from now on or from any offset. What happens after this has
    /// returned is in the stream, however late it is read.
    ///
    /// The stream reads the store, also what other processes write to it (at the latest after 250 ms), at the pace of
    /// whoever reads it: one that is slow, or does not read at all, costs the runs nothing, and misses no record that the store
    /// still has ([`prune_history`](super::RuntimeOptions::prune_history) removes some). Deltas are not stored. They come from the
    /// runs of this process only; each stands after the records that were made before it, and one who lags more than
    /// 1024 behind is told how many were dropped of those that the filter allows.
    ///
    /// # Errors
    ///
    /// The store could not be read.
    ///
    /// # Examples
    ///
    /// ```
    /// use flow_durable::{EventFilter, ExecutionEvent, MemoryStore, RecordKind, Runtime, StartOptions};
    /// use flow_runtime::prelude::*;
    ///
    /// #[node]
    /// fn greet(cx: &Context, name: &str) -> String {
    ///     cx.emit("Hello");
    ///     format!("Hello, {name}!")
    /// }
    ///
    /// flow! {
    ///     Greeting(name: String) -> (greet: String) {
    ///         start >> greet >> end;
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let runtime = Runtime::new(MemoryStore::new());
    /// runtime.register(Greeting::new())?;
    /// let mut events = runtime.events(EventFilter::new().path("greeting.*")?.deltas()).await?;
    /// let input = GreetingInput::builder().name("Ann".into()).build();
    /// runtime.start::<Greeting>(input, StartOptions::new()).await?;
    ///
    /// let mut seen = Vec::new();
    /// while let Some(event) = events.next().await.transpose()? {
    ///     seen.push(event.to_json()["type"].as_str().unwrap().to_owned());
    ///     if event.record().is_some_and(|record| record.kind == RecordKind::NodeFinished) {
    ///         break;
    ///     }
    /// }
    /// assert_eq!(seen, ["node_start", "stream_chunk", "exec_complete", "node_end"]);
    /// # Ok(()) }
    /// ```
    pub async fn events(&self, filter: EventFilter) -> Result<Events, RuntimeError> {
        let missed = Arc::new(AtomicU64::new(0));
        let reader = Reader::new(self.clone(), filter, missed.clone()).await?;
        Ok(Events {
            ready: VecDeque::new(),
            reading: Reading::Idle(Box::new(reader)),
            missed,
        })
    }

    /// How often an observer ([`RuntimeOptions::observer`](super::RuntimeOptions::observer)) has panicked. Runs go on all
    /// the same, and the observer is told of the next event as if nothing had happened.
    pub fn observer_failures(&self) -> u64 {
        self.inner.observer_failures.load(Ordering::Relaxed)
    }
}

/// The stream that [`Runtime::events`] gives. It never ends, unless it was asked for
/// [what there is now](EventFilter::until_now) only.
///
/// When the store fails, the stream gives the error and goes on where it was: the next item is the next event or,
/// after a while, the next error. A record that is damaged is an error once, in its place ([`RuntimeError::Store`] with
/// [`StoreError::Corrupt`](super::StoreError::Corrupt)), and the stream goes on with the one after it. So is what else cannot
/// be read of an execution: its events then tell what its records have.
#[must_use = "a stream reads nothing unless it is asked for its items"]
pub struct Events {
    ready: VecDeque<Item>,
    reading: Reading,
    missed: Arc<AtomicU64>,
}

/// A reader, and what it has read.
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
    /// The next event.
    ///
    /// # Errors
    ///
    /// The store could not be read.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, no event is lost: the next call goes on where this one was.
    pub async fn next(&mut self) -> Option<Result<ExecutionEvent, RuntimeError>> {
        poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }

    /// How many deltas this subscriber has missed because it was slow, of those that it asked for and may see.
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
                this.reading = match events.is_empty() {
                    true => Reading::Ended,
                    false => Reading::Idle(reader),
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
