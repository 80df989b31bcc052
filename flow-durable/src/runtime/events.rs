//! Watching executions.

use std::sync::atomic::Ordering;

use crate::error::RuntimeError;
use crate::events::{EventFilter, Events};
use crate::runtime::Runtime;

impl Runtime {
    /// The journals of the owner's executions as a stream, from now on or from any offset.
    /// Everything that happens after this has returned is in the stream, however late it is read.
    ///
    /// The stream reads the store, including what other processes write to it, at the pace of its
    /// reader. A store that gives [hints](flow_store::Store::changes) of what others write, such as
    /// the one on Postgres, is read some milliseconds later; others at least every 250 ms. A slow reader, or one that does not read at all, costs the
    /// runs nothing, and misses no record that the store still has
    /// ([`prune_history`](crate::RuntimeOptions::prune_history) removes some). Deltas are not
    /// stored. They come only from the runs of this process, and each comes after the records that
    /// were made before it. A reader that lags more than 1024 deltas behind is told how many of
    /// those that the filter allows were dropped.
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
        Events::of(self.owned.clone(), filter).await
    }

    /// How often an observer ([`RuntimeOptions::observer`](crate::RuntimeOptions::observer)) has
    /// panicked. Runs continue, and the observer is told of the next event as if nothing had
    /// happened.
    pub fn observer_failures(&self) -> u64 {
        self.owned.inner.observer_failures.load(Ordering::Relaxed)
    }
}
