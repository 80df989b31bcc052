//! The command `show`.

use flow_durable::{Execution, Executions, RecordKind};
use flow_spec::{visible, visible_json};
use serde_json::{Value, json};

use super::find::{find, said};
use super::look::summary;
use super::{arguments, events};
use crate::output::{self, Outcome};

pub(super) async fn show(
    arguments: &arguments::Show,
    executions: &Executions,
) -> Result<Outcome, String> {
    let execution = find(executions, &arguments.execution).await?;
    if let Some(seq) = arguments.at {
        let state = executions.state(execution.id(), seq).await.map_err(said)?;
        let state = json!(state);
        output::print(&visible_json(format!("{state:#}\n")))?;
        return Ok(Outcome::Fine);
    }
    if arguments.json {
        let json = whole(&execution).await?;
        output::print(&visible_json(format!("{json:#}\n")))?;
    } else {
        output::print(&text(&execution, executions).await?)?;
    }
    Ok(Outcome::Fine)
}

async fn whole(execution: &Execution) -> Result<Value, String> {
    let mut json = summary(execution);
    if let Some(output) = execution.output_json().map_err(said)? {
        json["output"] = output;
    }
    let questions = execution.questions().await.map_err(said)?;
    let questions = questions.iter().map(|question| {
        json!({
            "path": question.path(),
            "prompt": question.prompt(),
            "expected": question.expected(),
            "schema": question.schema(),
        })
    });
    json["questions"] = questions.collect();
    Ok(json)
}

async fn text(execution: &Execution, executions: &Executions) -> Result<String, String> {
    let mut lines = vec![
        format!("{} of {}", execution.status(), execution.flow()),
        format!("started {}", output::time(execution.created_at())),
    ];
    if let Some(owner) = execution.owner() {
        lines.push(format!("owner {owner}"));
    }
    if let Some(original) = execution.copied_from() {
        lines.push(format!("copy of {original}"));
    }
    if let Some(whole) = execution.part_of() {
        lines.push(format!("part of {whole}"));
    }
    if let Some(time) = execution.continues_at() {
        lines.push(format!("continues {}", output::time(time)));
    }
    if let Some(reason) = execution.reason() {
        lines.push(format!("because {reason}"));
    }
    if let Some(reason) = execution.halted() {
        lines.push(format!("halted: {reason}"));
    }
    lines.push(String::new());
    let last = execution.record_count().saturating_sub(1);
    // Without the structure of the flow, the journal does not say to which keys its nodes write.
    let writes = executions.writes(execution.id(), last).await;
    let writes = writes.unwrap_or_default();
    for record in execution.journal().await.map_err(said)? {
        // Every node starts before it finishes, and the finish says more.
        if record.kind == RecordKind::NodeStarted {
            continue;
        }
        let mut line = events::line(&record);
        let here = writes.iter().filter(|write| write.seq == record.seq);
        for write in here.filter(|write| write.added) {
            line += &format!("  + {}", write.key);
        }
        lines.push(line);
    }
    for question in execution.questions().await.map_err(said)? {
        lines.push(String::new());
        lines.push(format!(
            "{} asks for a `{}`:",
            question.path(),
            question.expected()
        ));
        lines.extend(question.prompt().lines().map(|line| format!("  {line}")));
    }
    let mut text: String = lines
        .iter()
        .map(|line| visible(line).into_owned() + "\n")
        .collect();
    if let Some(output) = execution.output_json().map_err(said)? {
        text += &visible_json(format!("\n{output:#}\n"));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use flow_durable::{MemoryStore, Runtime, StartOptions};
    use flow_runtime::prelude::*;

    use super::*;

    #[node(writes = +notes)]
    fn note() -> String {
        "noted".to_owned()
    }

    #[node(writes = notes)]
    fn forget() -> Vec<String> {
        Vec::new()
    }

    flow! {
        Noted() -> (notes: Vec<String>) {
            start >> forget >> note >> end;
        }
    }

    #[tokio::test]
    async fn a_plus_says_that_a_node_added_to_a_key() -> Result<(), String> {
        let runtime = Runtime::new(MemoryStore::new());
        runtime.register(Noted::new()).map_err(said)?;
        let executions = runtime.executions();
        let started = executions.start::<Noted>(NotedInput {}, StartOptions::new());
        let execution = started.await.map_err(said)?;
        let execution = execution.settled().await.map_err(said)?;
        let text = text(&execution, executions).await?;
        let finished = text.lines().filter(|line| line.contains("node_finished"));
        let finished: Vec<&str> = finished.map(str::trim).collect();
        let expected = [
            "3  node_finished   noted.forget  default",
            "6  node_finished   noted.note  default  + notes",
        ];
        assert_eq!(finished, expected);
        Ok(())
    }
}
