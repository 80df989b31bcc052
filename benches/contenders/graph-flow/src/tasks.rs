//! The tasks.

use async_trait::async_trait;
use bench_harness::work;
use graph_flow::{Context, GraphError, NextAction, Result, Task, TaskResult};
use serde::de::DeserializeOwned;

/// The branches of the fork, which are also the keys that they write.
pub const BRANCHES: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];

/// A task with a given name, which returns `next` after its work.
macro_rules! task {
    ($name:ident { $($field:ident: $type:ty),* } |$task:ident, $context:ident| { $($work:tt)* }) => {
        pub struct $name {
            pub id: &'static str,
            pub next: NextAction,
            $(pub $field: $type),*
        }

        #[async_trait]
        impl Task for $name {
            fn id(&self) -> &str {
                self.id
            }

            async fn run(&self, $context: Context) -> Result<TaskResult> {
                let $task = self;
                $($work)*
                Ok(TaskResult::new(None, $task.next.clone()))
            }
        }
    };
}

task! { Add {} |task, context| {
    context.set("total", work::add(read(&context, "total")?))?;
} }

task! { TryAdd {} |task, context| {
    let total = work::checked_add(read(&context, "total")?);
    context.set("total", total.map_err(|error| GraphError::Other(error.into()))?)?;
} }

task! { WaitingAdd {} |task, context| {
    work::give_way().await;
    context.set("total", work::add(read(&context, "total")?))?;
} }

task! { Touch {} |task, context| {
    context.set("payload", work::touch_text(read(&context, "payload")?))?;
} }

task! { Check {} |task, context| {
    let enough = work::is_enough(read(&context, "total")?, read(&context, "limit")?);
    context.set("enough", enough)?;
} }

task! { Done {} |task, _context| {} }

task! { Choose {} |task, context| {
    context.set("way", work::way(read(&context, "value")?))?;
} }

task! { Plus { more: u64, writes: &'static str } |task, context| {
    context.set(task.writes, work::plus(read(&context, "value")?, task.more))?;
} }

task! { Meet {} |task, context| {
    context.set("value", work::double(read(&context, "value")?))?;
} }

task! { Sum {} |task, context| {
    let mut sum = 0;
    for branch in BRANCHES {
        sum += read::<u64>(&context, branch)?;
    }
    context.set("sum", sum)?;
} }

pub fn read<T: DeserializeOwned>(context: &Context, key: &str) -> Result<T> {
    let value = context.get(key);
    value.ok_or_else(|| GraphError::ContextError(format!("no {key}")))
}
