//! Watching executions.

use super::Executions;
use crate::error::RuntimeError;
use crate::events::Events;
use crate::filter::EventFilter;

impl Executions {
    /// The journals of these executions as a stream, from now on or from any offset. The
    /// stream contains everything that happens after this returns, however late it is read.
    ///
    /// The stream reads the store, including the writes of other processes, at the pace of its
    /// reader. A store that gives [hints](flow_store::Store::changes) of these writes, such as the
    /// one on Postgres, is read some milliseconds later; others at least every 250 ms. A reader
    /// that is slow, or does not read at all, costs the runs nothing. It misses no record that the
    /// store still has ([`prune_history`](crate::RuntimeOptions::prune_history) removes some).
    /// Deltas are not stored. They come only from the runs of this process, and each comes after
    /// the records that were made before it. A reader that lags more than 1024 deltas behind gets
    /// the number of dropped deltas that the filter allows.
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
    /// let mut events = runtime.executions().events(EventFilter::new().path("greeting.*")?.deltas()).await?;
    /// let input = GreetingInput::builder().name("Ann".into()).build();
    /// runtime.executions().start::<Greeting>(input, StartOptions::new()).await?;
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
}
