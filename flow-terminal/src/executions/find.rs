//! Finds executions by their ids, or the beginnings of these, and shortens ids.

use std::collections::BTreeSet;

use flow_durable::{Execution, ExecutionId, Executions, ListOptions, Listed, RuntimeError};

/// The minimum number of characters of a shortened id.
const SHORTEST: usize = 8;

/// The maximum number of executions with which those of a list are compared.
const COMPARED: usize = 1000;

/// Returns the execution with this id, or this beginning of one.
pub(super) async fn find(executions: &Executions, id: &str) -> Result<Execution, String> {
    let id = find_id(executions, id).await?;
    executions.get(id).await.map_err(said)
}

/// Returns the id that this is, or begins.
pub(super) async fn find_id(executions: &Executions, id: &str) -> Result<ExecutionId, String> {
    executions.find_id(id).await.map_err(said)
}

/// Formats an error.
pub(super) fn said(error: RuntimeError) -> String {
    error.to_string()
}

/// Returns the ids of these executions, each cut after the first character by which it differs from
/// all other ids in the store. If there are too many others to compare it with, it stays whole.
pub(super) async fn short_ids(
    executions: &Executions,
    listed: &Listed,
) -> Result<Vec<String>, String> {
    let ids: Vec<String> = listed.iter().map(|it| it.id().to_string()).collect();
    let Some(newest) = ids.first() else {
        return Ok(ids);
    };
    let limit = ids.len() + COMPARED;
    let mut options = ListOptions::new().limit(limit);
    if let Some(newer) = after_beginning(newest) {
        options = options.before(newer);
    }
    let near = executions.list(options).await.map_err(said)?;
    let is_all = near.len() < limit;
    let damaged = near.damaged().iter().filter_map(|it| it.execution);
    let others = near.iter().map(Execution::id).chain(damaged);
    let others: BTreeSet<String> = others.map(|id| id.to_string()).collect();
    let short = |id: String| {
        let older = others.range(..id.clone()).next_back();
        if older.is_none() && !is_all {
            return id;
        }
        let newer = others.range(id.clone()..).find(|other| **other != id);
        let shared = older.into_iter().chain(newer);
        let shared = shared.map(|other| shared_beginning(&id, other)).max();
        let length = shared.map_or(SHORTEST, |shared| SHORTEST.max(shared + 1));
        id.chars().take(length).collect()
    };
    Ok(ids.into_iter().map(short).collect())
}

/// Returns an id that is greater than all that begin like this one, up to the length of a short one.
fn after_beginning(id: &str) -> Option<ExecutionId> {
    let beginning = u32::from_str_radix(id.get(..SHORTEST)?, 16).ok()?;
    let after = beginning.checked_add(1)?;
    format!("{after:08x}-0000-0000-0000-000000000000")
        .parse()
        .ok()
}

/// The number of characters with which both ids begin.
fn shared_beginning(one: &str, other: &str) -> usize {
    let pairs = one.bytes().zip(other.bytes());
    pairs.take_while(|(one, other)| one == other).count()
}
