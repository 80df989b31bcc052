//! Takes executions out of the queue.

use std::collections::{BTreeMap, HashMap};

use flow_store::{Claim, Damaged, ExecutionId, Row, Status, StoreError, Take};
use rusqlite::Connection;

use super::cells::integer;
use super::errors::store_error;
use super::rows::{self, Execution};
use super::{read, write};

/// The result of a look at the queue.
pub(super) enum Found {
    /// No execution can leave it, except perhaps these damaged ones.
    Nothing(Vec<Result<Row, Damaged>>),
    /// At this moment, an execution can leave it.
    Some,
}

/// Returns whether an execution can leave the queue, without blocking writers.
pub(super) fn look(connection: &Connection, take: &Take) -> Result<Found, StoreError> {
    let mut all_damaged = Vec::new();
    for chosen in choose(connection, take, take.limit.min(1))? {
        match chosen {
            Ok(_) => return Ok(Found::Some),
            Err(damaged) => all_damaged.push(Err(damaged)),
        }
    }
    Ok(Found::Nothing(all_damaged))
}

pub(super) fn take_queued(
    connection: &Connection,
    take: &Take,
) -> Result<Vec<Result<Row, Damaged>>, StoreError> {
    let mut taken = Vec::new();
    // They are changed when the index is no longer read.
    for chosen in choose(connection, take, take.limit)? {
        let mut execution = match chosen {
            Ok(execution) => execution,
            Err(damaged) => {
                taken.push(Err(damaged));
                continue;
            }
        };
        execution.claim = Some(Claim::new(take.holder, take.now_ms, take.until_ms));
        execution.row.status = Status::Running;
        execution.row.fence += 1;
        execution.row.updated_ms = take.now_ms;
        write::put(connection, &execution)?;
        taken.push(Ok(execution.row));
    }
    Ok(taken)
}

/// Returns the executions that can leave the queue, at most this many, and damaged ones that may be
/// among them.
fn choose(
    connection: &Connection,
    take: &Take,
    limit: usize,
) -> Result<Vec<Result<Execution, Damaged>>, StoreError> {
    let sql = "SELECT id, flow, concurrency_key, concurrency_limit \
         FROM executions INDEXED BY executions_queued \
         WHERE status = 'queued' AND (not_before_ms IS NULL OR not_before_ms <= ?1) \
         ORDER BY coalesce(priority, 0) DESC, id";
    let mut statement = connection.prepare_cached(sql).map_err(store_error)?;
    let mut found = statement
        .query([integer(take.now_ms)])
        .map_err(store_error)?;
    let mut places = Places::new(connection, take, limit);
    let mut chosen = Vec::new();
    while places.left > 0
        && let Some(row) = found.next().map_err(store_error)?
    {
        let entry = Entry::read(row);
        if !places.has_one(&entry)? {
            continue;
        }
        let id = rows::parsed_id(&entry.id);
        let execution = id.as_ref().ok().copied();
        match id.and_then(|id| entry.execution(connection, id)) {
            Ok(execution) if is_claimed(&execution, take.now_ms) => {}
            Ok(execution) => {
                places.fill(entry);
                chosen.push(Ok(execution));
            }
            Err(StoreError::Corrupt { place, reason }) => chosen.push(Err(Damaged {
                execution,
                place,
                reason,
            })),
            Err(error) => return Err(error),
        }
    }
    Ok(chosen)
}

fn is_claimed(execution: &Execution, now_ms: u64) -> bool {
    execution.claim.is_some_and(|claim| claim.is_valid(now_ms))
}

/// An entry of the queue.
struct Entry {
    id: String,
    flow: String,
    concurrency: Option<(String, u64)>,
}

impl Entry {
    /// A damaged value is noticed when the execution itself is read.
    fn read(row: &rusqlite::Row<'_>) -> Entry {
        let limit = rows::number(row, 3).ok();
        Entry {
            id: rows::shown(row, 0),
            flow: rows::shown(row, 1),
            concurrency: limit.map(|limit| (rows::shown(row, 2), limit)),
        }
    }

    fn execution(&self, connection: &Connection, id: ExecutionId) -> Result<Execution, StoreError> {
        let execution = read::indexed(connection, id)?;
        let row = &execution.row;
        let concurrency = row.concurrency.as_ref();
        let concurrency = concurrency.map(|it| (it.key.clone(), it.at_most.into()));
        let is_it = row.status == Status::Queued && row.flow == self.flow;
        if is_it && concurrency == self.concurrency {
            Ok(execution)
        } else {
            Err(execution.damage(format!("{} in the queue", read::LED_ASTRAY)))
        }
    }
}

/// The free places.
struct Places<'a> {
    connection: &'a Connection,
    left: usize,
    flows: BTreeMap<String, usize>,
    /// The number of executions in progress by key.
    under_way: HashMap<String, u64>,
}

impl<'a> Places<'a> {
    fn new(connection: &'a Connection, take: &Take, limit: usize) -> Self {
        Places {
            connection,
            left: limit,
            flows: take.flows.clone(),
            under_way: HashMap::new(),
        }
    }

    fn has_one(&mut self, entry: &Entry) -> Result<bool, StoreError> {
        if self.flows.get(&entry.flow).is_none_or(|left| *left == 0) {
            return Ok(false);
        }
        let Some((key, limit)) = &entry.concurrency else {
            return Ok(true);
        };
        if let Some(count) = self.under_way.get(key) {
            return Ok(count < limit);
        }
        let sql = "SELECT count(*) FROM executions INDEXED BY executions_by_concurrency \
             WHERE concurrency_key = ?1 AND status IN ('running', 'paused')";
        let count = read::first(self.connection, sql, &[key], |row| rows::number(row, 0))?;
        let count = count.unwrap_or(0);
        self.under_way.insert(key.clone(), count);
        Ok(count < *limit)
    }

    fn fill(&mut self, entry: Entry) {
        self.left -= 1;
        if let Some(left) = self.flows.get_mut(&entry.flow) {
            *left -= 1;
        }
        if let Some((key, _)) = entry.concurrency {
            *self.under_way.entry(key).or_default() += 1;
        }
    }
}
