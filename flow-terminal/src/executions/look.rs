//! The command `list`.

use std::time::SystemTime;

use flow_durable::{Execution, Executions, ListOptions, Status};
use flow_spec::{visible, visible_json};
use serde_json::{Value, json};

use super::arguments;
use super::find::{find_id, said, short_ids};
use crate::output::{self, Outcome};

pub(super) async fn list(
    arguments: &arguments::List,
    executions: &Executions,
) -> Result<Outcome, String> {
    let mut options = ListOptions::new().limit(arguments.limit.into());
    if let Some(flow) = &arguments.flow {
        options = options.flow(flow);
    }
    if let Some(status) = arguments.status {
        options = options.status(status);
    }
    if let Some(before) = &arguments.before {
        options = options.before(find_id(executions, before).await?);
    }
    let listed = executions.list(options).await.map_err(said)?;
    for damaged in listed.damaged() {
        output::tell_error(&damaged.to_string());
    }
    if arguments.json {
        let list: Value = listed.iter().map(summary).collect();
        output::print(&visible_json(format!("{list:#}\n")))?;
        return Ok(Outcome::Fine);
    }
    let ids = short_ids(executions, &listed).await?;
    let width = ids.iter().map(String::len).max().unwrap_or_default();
    let mut text = String::new();
    for (execution, id) in listed.iter().zip(&ids) {
        text += &visible(&format!("{id:width$}  {}", line(execution)));
        text.push('\n');
    }
    output::print(&text)?;
    if let Some(next) = listed.next_page() {
        eprintln!("there are more: --before {next}");
    }
    Ok(Outcome::Fine)
}

/// Formats an execution as one line, without its id.
fn line(execution: &Execution) -> String {
    let is_cancelling = execution.status() == Status::Cancelling;
    let reason = match execution.reason().or(execution.halted()) {
        Some(reason) => {
            let halted = if is_cancelling { "halted: " } else { "" };
            format!("  {halted}{}", reason.lines().next().unwrap_or_default())
        }
        None => String::new(),
    };
    format!(
        "{}  {:10}  {}{reason}",
        output::time(execution.created_at()),
        match execution.halted() {
            Some(_) if !is_cancelling => "halted",
            _ => execution.status().as_str(),
        },
        execution.flow(),
    )
}

/// Returns the milliseconds since 1970 (UTC).
pub(super) fn millis(time: SystemTime) -> u64 {
    let since = time
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Returns an execution as JSON, with the names of the server.
pub(super) fn summary(execution: &Execution) -> Value {
    let mut json = json!({
        "id": execution.id().to_string(),
        "flow": execution.flow(),
        "status": execution.status().as_str(),
        "createdAtMs": millis(execution.created_at()),
        "updatedAtMs": millis(execution.updated_at()),
        "records": execution.record_count(),
    });
    let copied_from = execution.copied_from().map(|id| id.to_string());
    let part_of = execution.part_of().map(|id| id.to_string());
    let more = [
        ("owner", execution.owner()),
        ("idempotencyKey", execution.idempotency_key()),
        ("copiedFrom", copied_from.as_deref()),
        ("partOf", part_of.as_deref()),
        ("reason", execution.reason()),
        ("halted", execution.halted()),
    ];
    for (field, value) in more {
        if let Some(value) = value {
            json[field] = value.into();
        }
    }
    if execution.priority() != 0 {
        json["priority"] = execution.priority().into();
    }
    if let Some(time) = execution.not_before() {
        json["notBeforeMs"] = millis(time).into();
    }
    if let Some(time) = execution.continues_at() {
        json["continuesAtMs"] = millis(time).into();
    }
    if let Some((key, at_most)) = execution.concurrency_key() {
        json["concurrencyKey"] = key.into();
        json["concurrencyAtMost"] = at_most.into();
    }
    json
}
