//! Reads.

use flow_store::{
    Claim, Damaged, DamagedRecord, ExecutionId, ListQuery, Logged, PauseRow, Record, Row,
    StoreError, Token,
};
use redis::{Cmd, Value};

use super::database::Database;
use super::errors::not_understood;
use super::reply::{self, Fields};
use super::rows;
use super::script::{self, Arguments, integer};

/// The maximum number of entries that a call reads, since it blocks the server.
pub(super) const PAGE: usize = 500;

/// The number of executions that the first page of a list reads beyond the limit, as some may not
/// match.
const AT_ONCE: usize = 10;

pub(super) fn command(name: &str, key: &str) -> Cmd {
    let mut command = redis::cmd(name);
    command.arg(key);
    command
}

/// Returns the time of the server with the keys, or `None` with the clocks of callers.
pub(super) async fn clock_ms(database: &Database) -> Result<Option<u64>, StoreError> {
    if database.callers_clocks {
        return Ok(None);
    }
    // A script with a key, since each server of a cluster has its own clock.
    let found = database.read(&script::CLOCK, Arguments::default()).await?;
    let now = reply::text(found).and_then(|now| now.parse().ok());
    let now = now.ok_or_else(|| not_understood("a time that is not a number"))?;
    Ok(Some(now))
}

pub(super) async fn structure(
    database: &Database,
    hash: &str,
) -> Result<Option<String>, StoreError> {
    let mut get = command("HGET", &database.key("structures"));
    get.arg(hash);
    let found = match database.command(get).await? {
        Value::Nil => return Ok(None),
        found => reply::text(found),
    };
    found.map(Some).ok_or_else(|| StoreError::Corrupt {
        place: format!("the structure {hash}"),
        reason: "it is not a text of UTF-8".to_owned(),
    })
}

/// Reads the fields of an execution, none if it does not exist.
async fn fields(database: &Database, id: ExecutionId) -> Result<Fields, StoreError> {
    let get = command("HGETALL", &database.key(&format!("execution:{id}")));
    Fields::new(database.command(get).await?)
}

pub(super) async fn execution(
    database: &Database,
    id: ExecutionId,
) -> Result<Option<Row>, StoreError> {
    let fields = fields(database, id).await?;
    if fields.is_empty() {
        return Ok(None);
    }
    Ok(Some(rows::execution(&id.to_string(), &fields)?))
}

pub(super) async fn claim_of(
    database: &Database,
    id: ExecutionId,
) -> Result<Option<Claim>, StoreError> {
    Ok(rows::claim(id, &fields(database, id).await?)?)
}

pub(super) async fn list(
    database: &Database,
    query: &ListQuery,
) -> Result<Vec<Result<Row, Damaged>>, StoreError> {
    let mut lists = vec!["ids".to_owned()];
    lists.extend(query.flow.as_ref().map(|flow| format!("flow:{flow}")));
    lists.extend(query.status.map(|status| format!("status:{status}")));
    let owner = query.owner.as_ref().and_then(Option::as_ref);
    lists.extend(owner.map(|owner| format!("owner:{owner}")));
    lists.extend((query.halted == Some(true)).then(|| "halted".to_owned()));
    lists.extend((query.cancelling == Some(true)).then(|| "cancelling".to_owned()));
    let mut max = query
        .before
        .map_or_else(|| "+".to_owned(), |id| format!("({id}"));
    let limit = query.limit.unwrap_or(usize::MAX);
    let (mut listed, mut count) = (Vec::new(), 0);
    // Growing pages, since matches can be rare.
    let mut page_length = PAGE.min(limit.saturating_add(AT_ONCE));
    while count < limit {
        let arguments = Arguments::default()
            .text(&max)
            .count(page_length)
            .text(match query.asks {
                None => "",
                Some(false) => "0",
                Some(true) => "1",
            })
            .count(lists.len());
        let arguments = lists.iter().fold(arguments, |all, list| all.text(list));
        let page = reply::array(database.read(&script::LIST, arguments).await?)?;
        let is_last = page.len() < page_length;
        page_length = PAGE.min(2 * page_length);
        let mut last = None;
        for found in page {
            let (id, fields) = identified(found)?;
            let row = fields.map(|fields| rows::execution(&id, &fields));
            let is_wanted = |row: &Result<Row, Damaged>| {
                count < limit && row.as_ref().map_or(true, |row| query.allows(row))
            };
            if let Some(row) = row.filter(is_wanted) {
                count += usize::from(row.is_ok());
                listed.push(row);
            }
            last = Some(id);
        }
        match last {
            Some(last) if !is_last => max = format!("({last}"),
            _ => break,
        }
    }
    Ok(listed)
}

/// Returns the id that a script found, and the fields unless they do not matter.
fn identified(found: Value) -> Result<(String, Option<Fields>), StoreError> {
    let mut parts = reply::array(found)?.into_iter();
    // A foreign id may not be a text.
    let id = parts.next().and_then(reply::bytes);
    let id = id.ok_or_else(|| not_understood("an entry without an id"))?;
    let fields = parts.next().map(Fields::new).transpose()?;
    Ok((String::from_utf8_lossy(&id).into_owned(), fields))
}

pub(super) async fn records(
    database: &Database,
    id: ExecutionId,
    from_seq: u64,
    limit: usize,
) -> Result<Vec<Record>, StoreError> {
    let key = database.key(&format!("records:{id}"));
    let (mut records, mut from) = (Vec::new(), from_seq);
    while records.len() < limit {
        let count = PAGE.min(limit - records.len());
        let mut get = command("XRANGE", &key);
        get.arg(integer(from)).arg("+").arg("COUNT").arg(count);
        let page = rows::records(id, database.command(get).await?)?;
        let is_last = page.len() < count;
        let next = page.last().and_then(|record| record.seq.checked_add(1));
        records.extend(page);
        match next {
            Some(next) if !is_last => from = next,
            _ => break,
        }
    }
    Ok(records)
}

pub(super) async fn pauses(
    database: &Database,
    id: ExecutionId,
) -> Result<Vec<PauseRow>, StoreError> {
    let arguments = Arguments::default().id(id.as_uuid());
    let found = database.read(&script::QUESTIONS, arguments).await?;
    let questions = reply::array(found)?.into_iter().map(|found| {
        let (token, fields) = identified(found)?;
        let damaged = |reason: &str| StoreError::Corrupt {
            place: format!("a question of execution {id}"),
            reason: reason.to_owned(),
        };
        let token = token
            .parse()
            .map_err(|_| damaged("its token is not a UUID"))?;
        let fields = fields.filter(|fields| !fields.is_empty());
        let fields = fields.ok_or_else(|| damaged("it is listed, and is missing"))?;
        Ok(rows::question(token, &fields)?)
    });
    questions.collect()
}

pub(super) async fn pause(
    database: &Database,
    token: Token,
) -> Result<Option<PauseRow>, StoreError> {
    let get = command("HGETALL", &database.key(&format!("question:{token}")));
    let fields = Fields::new(database.command(get).await?)?;
    if fields.is_empty() {
        return Ok(None);
    }
    Ok(Some(rows::question(token, &fields)?))
}

pub(super) async fn due(
    database: &Database,
    now_ms: u64,
    after: Option<ExecutionId>,
    limit: usize,
) -> Result<Vec<Result<ExecutionId, Damaged>>, StoreError> {
    let after = after.map_or_else(String::new, |id| id.to_string());
    let arguments = Arguments::default()
        .flag(database.callers_clocks)
        .number(now_ms)
        .owned(after)
        .count(limit);
    let found = reply::array(database.read(&script::DUE, arguments).await?)?;
    found.into_iter().map(due_one).collect()
}

fn due_one(found: Value) -> Result<Result<ExecutionId, Damaged>, StoreError> {
    let mut parts = reply::array(found)?.into_iter();
    let id = parts.next().and_then(reply::bytes);
    let listed = String::from_utf8_lossy(&id.unwrap_or_default()).into_owned();
    let id: Option<ExecutionId> = listed.parse().ok();
    let place = parts.next().and_then(reply::text);
    let reason = parts.next().and_then(reply::text);
    Ok(match (id, place, reason) {
        (execution, Some(place), Some(reason)) => Err(Damaged {
            execution,
            place,
            reason,
        }),
        (Some(id), ..) => Ok(id),
        (None, ..) => Err(Damaged {
            execution: None,
            place: format!("execution {listed}"),
            reason: "its id is not a UUID".to_owned(),
        }),
    })
}

pub(super) async fn log(
    database: &Database,
    execution: Option<ExecutionId>,
    after: u64,
    limit: usize,
) -> Result<Vec<Result<Logged, DamagedRecord>>, StoreError> {
    let (mut logged, mut after) = (Vec::new(), after);
    while logged.len() < limit {
        let count = PAGE.min(limit - logged.len());
        let page = match execution {
            Some(id) => log_of(database, id, after, count).await?,
            None => {
                let arguments = Arguments::default().number(after).count(count);
                let found = database.read(&script::LOG, arguments).await?;
                let found = reply::array(found)?.into_iter().map(rows::logged);
                found.collect::<Result<Vec<_>, _>>()?
            }
        };
        let is_last = page.len() < count;
        for (offset, read) in page {
            logged.push(read.map_err(|damaged| DamagedRecord { offset, damaged }));
            after = offset;
        }
        if is_last {
            break;
        }
    }
    Ok(logged)
}

/// A page of the log, with offsets.
type Page = Vec<(u64, Result<Logged, Damaged>)>;

async fn log_of(
    database: &Database,
    id: ExecutionId,
    after: u64,
    count: usize,
) -> Result<Page, StoreError> {
    let arguments = Arguments::default()
        .id(id.as_uuid())
        .number(after)
        .count(count);
    let found = database.read(&script::LOG_OF, arguments).await?;
    let mut parts = reply::array(found)?.into_iter();
    let (Some(owner), Some(entries)) = (parts.next(), parts.next()) else {
        return Err(not_understood("a log without entries"));
    };
    let owner = reply::text(owner);
    let entries = reply::array(entries)?.into_iter();
    entries
        .map(|entry| rows::logged_of(id, owner.clone(), entry))
        .collect()
}

pub(super) async fn last_offset(database: &Database) -> Result<u64, StoreError> {
    let mut get = command("XREVRANGE", &database.key("log"));
    get.arg("+").arg("-").arg("COUNT").arg(1);
    let newest = reply::array(database.command(get).await?)?;
    let Some(newest) = newest.into_iter().next() else {
        return Ok(0);
    };
    let id = reply::array(newest)?
        .into_iter()
        .next()
        .and_then(reply::text);
    let offset = id.and_then(|id| id.split_once('-')?.0.parse().ok());
    offset.ok_or_else(|| not_understood("an entry of the log without an offset"))
}
