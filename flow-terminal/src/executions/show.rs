//! The command `show`.

use flow_durable::{
    AwaitedSignal, Execution, Executions, RecordKind, Status, UndoableStep, UntakenSignal,
};
use flow_spec::{visible, visible_json};
use serde_json::{Value, json};

use super::find::{find, said};
use super::look::{millis, summary};
use super::{arguments, ends, events};
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
        let json = whole(&execution, executions).await?;
        output::print(&visible_json(format!("{json:#}\n")))?;
    } else {
        output::print(&text(&execution, executions).await?)?;
    }
    Ok(Outcome::Fine)
}

pub(super) async fn whole(execution: &Execution, executions: &Executions) -> Result<Value, String> {
    let mut json = summary(execution);
    if let Some(output) = execution.output_json().map_err(said)? {
        json["output"] = output;
    }
    if let Status::Cancelling | Status::Cancelled = execution.status() {
        let steps = execution.undoable().await.map_err(said)?;
        json["notUndone"] = steps.iter().map(UndoableStep::step).collect();
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
    let awaited = execution.awaited_signals().await.map_err(said)?;
    json["awaits"] = awaited.iter().map(awaited_json).collect();
    let untaken = executions.untaken_signals(execution.id()).await;
    json["signals"] = untaken.map_err(said)?.iter().map(signal_json).collect();
    Ok(json)
}

fn awaited_json(awaited: &AwaitedSignal) -> Value {
    let mut json = json!({ "path": awaited.path(), "signal": awaited.name() });
    if let Some(at) = awaited.expires_at() {
        json["expiresAtMs"] = millis(at).into();
    }
    json
}

fn signal_json(signal: &UntakenSignal) -> Value {
    let body = serde_json::from_str(signal.body());
    let mut json = json!({
        "number": signal.number(),
        "name": signal.name(),
        "body": body.unwrap_or_else(|_| Value::from(signal.body())),
        "sentAtMs": millis(signal.sent_at()),
    });
    if let Some(key) = signal.idempotency_key() {
        json["idempotencyKey"] = key.into();
    }
    json
}

pub(super) async fn text(execution: &Execution, executions: &Executions) -> Result<String, String> {
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
    lines.extend(ends::not_undone(execution).await?);
    lines.push(String::new());
    let last = execution.record_count().saturating_sub(1);
    // Without the structure of the flow, the journal does not say to which keys its nodes write.
    let writes = executions.writes(execution.id(), last).await;
    let writes = writes.unwrap_or_default();
    let journal = execution.journal().await.map_err(said)?;
    for record in &journal {
        // Every node starts before it finishes, and the finish says more.
        if record.kind == RecordKind::NodeStarted {
            continue;
        }
        let mut line = events::line(record);
        let here = writes.iter().filter(|write| write.seq == record.seq);
        for write in here.filter(|write| write.added) {
            line += &format!("  + {}", write.key);
        }
        lines.push(line);
    }
    // An execution that is being cancelled waits for nobody.
    let waits = execution.status() != Status::Cancelling;
    let questions = execution.questions().await.map_err(said)?;
    for question in questions.iter().filter(|_| waits) {
        lines.push(String::new());
        lines.push(format!(
            "{} asks for a `{}`:",
            question.path(),
            question.expected()
        ));
        lines.extend(question.prompt().lines().map(|line| format!("  {line}")));
    }
    let awaited = execution.awaited_signals().await.map_err(said)?;
    for awaited in awaited.iter().filter(|_| waits) {
        let until = awaited.expires_at();
        let until = until.map_or_else(String::new, |at| format!(" until {}", output::time(at)));
        lines.push(String::new());
        lines.push(format!(
            "{} waits for the signal `{}`{until}",
            awaited.path(),
            awaited.name()
        ));
    }
    let untaken = executions.untaken_signals(execution.id()).await;
    for signal in untaken.map_err(said)? {
        lines.push(String::new());
        lines.push(format!(
            "the signal {}, `{}`, was sent and not taken:",
            signal.number(),
            signal.name()
        ));
        lines.push(format!("  {}", signal.body()));
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
