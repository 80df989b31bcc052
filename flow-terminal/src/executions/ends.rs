//! The commands `cancel` and `retry`.

use flow_durable::{Execution, Executions, RuntimeError, Status, UndoableStep};
use flow_spec::visible;

use super::arguments;
use super::find::{find_id, said};
use crate::output::{self, Outcome};

pub(super) async fn cancel(
    arguments: &arguments::Cancel,
    executions: &Executions,
) -> Result<Outcome, String> {
    let id = find_id(executions, &arguments.execution).await?;
    let reason = &arguments.reason;
    let ended = if arguments.without_undoing {
        executions.end_without_undoing(id, reason).await
    } else {
        executions.cancel(id, reason).await
    };
    let execution = match ended {
        Ok(execution) => execution,
        Err(RuntimeError::NotRegistered { flow }) => {
            return Err(format!(
                "{id} is halted, and has to continue in order to be undone, but this program does not have its flow `{flow}`. \
                 Cancel it with a program that has it, or end it as it is with `--without-undoing`"
            ));
        }
        Err(error) => return Err(said(error)),
    };
    let text = match execution.status() {
        Status::Cancelling => format!(
            "{id} is cancelling: it is undone in a process that has its flow, and ends then\n"
        ),
        status => format!("{id} is {status}\n"),
    };
    output::print(&text)?;
    if arguments.without_undoing {
        output::print(&lines(&not_undone(&execution).await?))?;
    }
    Ok(Outcome::Fine)
}

pub(super) async fn retry(
    arguments: &arguments::Retry,
    executions: &Executions,
) -> Result<Outcome, String> {
    let id = find_id(executions, &arguments.execution).await?;
    let before = executions.get(id).await.map_err(said)?;
    let is_stopped = before.status() == Status::Failed || before.halted().is_some();
    let retried = match arguments.more_steps {
        Some(steps) => executions.retry_with_steps(id, steps).await,
        None if !is_stopped && !before.status().is_over() => {
            return Err(format!("{id} has not failed, and is not halted"));
        }
        None => executions.retry(id).await,
    };
    retried.map_err(|error| match error {
        RuntimeError::NotRegistered { flow } => format!(
            "this program does not have the flow `{flow}`. Retry it with a program that has it, or start that with `serve` or \
             `worker`"
        ),
        error => said(error),
    })?;
    output::print(&format!("{id} continues in a process that has its flow\n"))?;
    Ok(Outcome::Fine)
}

/// Describes the steps of an execution that are not undone, if it is being undone or has ended
/// without: a heading, and a line for each, in the order in which they are undone.
pub(super) async fn not_undone(execution: &Execution) -> Result<Vec<String>, String> {
    let heading = match execution.status() {
        Status::Cancelling => "not undone yet:",
        Status::Cancelled => "not undone:",
        _ => return Ok(Vec::new()),
    };
    let steps = execution.undoable().await.map_err(said)?;
    if steps.is_empty() {
        return Ok(Vec::new());
    }
    let heading = std::iter::once(heading.to_owned());
    let steps = steps.iter().map(UndoableStep::step);
    Ok(heading
        .chain(steps.map(|step| format!("  {step}")))
        .collect())
}

fn lines(lines: &[String]) -> String {
    let lines = lines.iter().map(|line| visible(line).into_owned() + "\n");
    lines.collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use flow_durable::{MemoryStore, Runtime, StartOptions};
    use flow_runtime::prelude::*;

    use super::*;

    #[derive(Clone, Default)]
    struct Bake {
        is_mended: Arc<AtomicBool>,
    }

    #[node(writes = bread)]
    impl Bake {
        fn exec(&self) -> u32 {
            assert!(self.is_mended.load(Ordering::SeqCst), "no bread");
            1
        }
    }

    flow! {
        Baking() -> (bread: u32) {
            node bake: Bake;
            start >> bake >> end;
        }
    }

    #[tokio::test]
    async fn one_that_is_halted_continues() {
        let bake = Bake::default();
        let runtime = Runtime::new(MemoryStore::new());
        let flow = Baking::builder().bake(bake.clone()).build();
        runtime.register(flow).unwrap();
        let executions = runtime.executions();
        let started = executions.start::<Baking>(BakingInput {}, StartOptions::new());
        let execution = started.await.unwrap();
        execution.settled().await.unwrap_err();
        bake.is_mended.store(true, Ordering::SeqCst);
        let arguments = |more_steps| arguments::Retry {
            execution: execution.id().to_string(),
            more_steps,
        };
        retry(&arguments(None), executions).await.unwrap();
        let done = execution.settled().await.unwrap();
        assert_eq!(done.status(), Status::Completed);
        for (more_steps, told) in [(None, "is completed already"), (Some(5), "is not halted")] {
            let refused = retry(&arguments(more_steps), executions).await;
            let error = refused.unwrap_err();
            assert!(error.contains(told), "{error}");
        }
    }
}
