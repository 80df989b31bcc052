//! Reads.

use flow_store::{
    Claim, Damaged, DamagedRecord, ExecutionId, ListQuery, Logged, PauseRow, Record, Renewal, Row,
    Status, StoreError, Token,
};
use tokio_postgres::Row as Found;
use tokio_postgres::types::Type;

use super::database::{Database, Value};
use super::given::{integer, limit};
use super::{rows, text};

pub(super) fn id(found: &Found) -> Result<ExecutionId, StoreError> {
    rows::id(found, "id").map_err(|reason| StoreError::Corrupt {
        place: "an execution".to_owned(),
        reason,
    })
}

pub(super) fn renewal(found: &Found) -> Result<Renewal, StoreError> {
    let id = id(found)?;
    let fence = rows::number(found, "fence").map_err(|reason| StoreError::Corrupt {
        place: format!("execution {id}"),
        reason,
    })?;
    Ok(Renewal { id, fence })
}

/// Returns the time of the database, or `None` if claims are judged by the clocks of callers.
pub(super) async fn clock_ms(database: &Database) -> Result<Option<u64>, StoreError> {
    if database.claims_at(0).is_some() {
        return Ok(None);
    }
    let sql = "SELECT {schema}.clock_ms(NULL) AS now";
    let found = database.rows(sql, &[]).await?;
    let [row] = &found[..] else {
        unreachable!("a query of a value has one row");
    };
    let now: i64 = row.get(0);
    Ok(Some(u64::try_from(now).unwrap_or(0)))
}

pub(super) async fn structure(
    database: &Database,
    hash: &str,
) -> Result<Option<String>, StoreError> {
    let sql = "SELECT structure FROM {schema}.structures WHERE hash = $1";
    let found = database
        .rows(sql, &[(&text::stored(hash), Type::TEXT)])
        .await?;
    let read = found
        .first()
        .map(|row| rows::value::<String>(row, "structure"));
    let read = read.transpose().map_err(|reason| StoreError::Corrupt {
        place: format!("the structure {hash}"),
        reason,
    })?;
    Ok(read.map(text::read))
}

pub(super) async fn execution(
    database: &Database,
    id: ExecutionId,
) -> Result<Option<Row>, StoreError> {
    let sql = "SELECT * FROM {schema}.executions WHERE id = $1";
    let found = database.rows(sql, &[(&id.as_uuid(), Type::UUID)]).await?;
    Ok(found.first().map(rows::execution).transpose()?)
}

pub(super) async fn claim_of(
    database: &Database,
    id: ExecutionId,
) -> Result<Option<Claim>, StoreError> {
    let sql = "SELECT holder, claimed_until_ms, lease_ms FROM {schema}.executions WHERE id = $1";
    let found = database.rows(sql, &[(&id.as_uuid(), Type::UUID)]).await?;
    let claim = found.first().map(|row| rows::claim(id, row)).transpose()?;
    Ok(claim.flatten())
}

pub(super) async fn list(
    database: &Database,
    query: &ListQuery,
) -> Result<Vec<Result<Row, Damaged>>, StoreError> {
    let sql = "SELECT * FROM {schema}.executions e WHERE ($1::text IS NULL OR flow = $1) \
         AND ($2::text IS NULL OR status = $2) \
         AND (NOT $3 OR owner IS NOT DISTINCT FROM $4) \
         AND ($5::bigint IS NULL OR created_ms >= $5) \
         AND ($6::bigint IS NULL OR created_ms < $6) \
         AND ($7::bigint IS NULL OR updated_ms < $7) \
         AND ($8::uuid IS NULL OR copied_from = $8) \
         AND ($9::uuid IS NULL OR id < $9) \
         AND (NOT coalesce($11::bool, false) OR halted IS NOT NULL) \
         AND ($11 IS NULL OR $11 = \
             (halted IS NOT NULL AND status NOT IN ('completed', 'failed', 'cancelled'))) \
         AND ($12::bool IS NULL OR $12 = EXISTS \
             (SELECT FROM {schema}.pauses p WHERE p.execution = e.id AND p.state = 'open')) \
         AND (NOT coalesce($13::bool, false) OR \
             (cancelled_ms IS NOT NULL AND status NOT IN ('completed', 'failed', 'cancelled'))) \
         AND (coalesce($13, true) OR \
             cancelled_ms IS NULL OR status IN ('completed', 'failed', 'cancelled')) ORDER BY id DESC LIMIT $10";
    let owner = query.owner.as_ref();
    let values: [Value<'_>; _] = [
        (&query.flow.as_deref().map(text::stored), Type::TEXT),
        (&query.status.map(Status::as_str), Type::TEXT),
        (&owner.is_some(), Type::BOOL),
        (
            &owner.and_then(Option::as_deref).map(text::stored),
            Type::TEXT,
        ),
        (&query.created_from_ms.map(integer), Type::INT8),
        (&query.created_before_ms.map(integer), Type::INT8),
        (&query.updated_before_ms.map(integer), Type::INT8),
        (&query.copied_from.map(|id| id.as_uuid()), Type::UUID),
        (&query.before.map(|id| id.as_uuid()), Type::UUID),
        (&query.limit.map(limit), Type::INT8),
        (&query.halted, Type::BOOL),
        (&query.asks, Type::BOOL),
        (&query.cancelling, Type::BOOL),
    ];
    let found = database.rows(sql, &values).await?;
    Ok(found.iter().map(rows::execution).collect())
}

pub(super) async fn records(
    database: &Database,
    id: ExecutionId,
    from_seq: u64,
    at_most: usize,
) -> Result<Vec<Record>, StoreError> {
    let sql =
        "SELECT * FROM {schema}.records WHERE execution = $1 AND seq >= $2 ORDER BY seq LIMIT $3";
    let values: [Value<'_>; _] = [
        (&id.as_uuid(), Type::UUID),
        (&integer(from_seq), Type::INT8),
        (&limit(at_most), Type::INT8),
    ];
    let found = database.rows(sql, &values).await?;
    let records = found.iter().map(|row| Ok(rows::record(id, row)?));
    records.collect()
}

pub(super) async fn pauses(
    database: &Database,
    id: ExecutionId,
) -> Result<Vec<PauseRow>, StoreError> {
    let sql = "SELECT * FROM {schema}.pauses \
         WHERE execution = $1 AND state NOT IN ('used', 'expired', 'withdrawn') ORDER BY number";
    let found = database.rows(sql, &[(&id.as_uuid(), Type::UUID)]).await?;
    found.iter().map(|row| Ok(rows::pause(row)?)).collect()
}

pub(super) async fn pause(
    database: &Database,
    token: Token,
) -> Result<Option<PauseRow>, StoreError> {
    let sql = "SELECT * FROM {schema}.pauses WHERE token = $1";
    let found = database
        .rows(sql, &[(&token.as_uuid(), Type::UUID)])
        .await?;
    Ok(found.first().map(rows::pause).transpose()?)
}

pub(super) async fn due(
    database: &Database,
    now_ms: u64,
    after: Option<ExecutionId>,
    at_most: usize,
) -> Result<Vec<Result<ExecutionId, Damaged>>, StoreError> {
    // Each part has its own index.
    let sql = "SELECT e.id FROM {schema}.executions AS e JOIN ( \
             SELECT id FROM {schema}.executions WHERE status = 'running' \
             UNION SELECT id FROM {schema}.executions WHERE status = 'paused' AND settled > 0 \
             UNION SELECT id FROM {schema}.executions WHERE status = 'paused' AND wake_ms <= $1 \
         ) AS ready ON ready.id = e.id CROSS JOIN {schema}.clock_ms($4) AS c (now_ms) \
         WHERE e.halted IS NULL AND ($2::uuid IS NULL OR e.id > $2) AND (e.holder IS NULL OR e.claimed_until_ms <= c.now_ms \
             OR e.claimed_until_ms - e.lease_ms > c.now_ms) ORDER BY e.id LIMIT $3";
    let values: [Value<'_>; _] = [
        (&integer(now_ms), Type::INT8),
        (&after.map(|id| id.as_uuid()), Type::UUID),
        (&limit(at_most), Type::INT8),
        (&database.claims_at(now_ms), Type::INT8),
    ];
    let found = database.rows(sql, &values).await?;
    found.iter().map(|row| Ok(Ok(id(row)?))).collect()
}

pub(super) async fn log(
    database: &Database,
    execution: Option<ExecutionId>,
    after: u64,
    at_most: usize,
) -> Result<Vec<Result<Logged, DamagedRecord>>, StoreError> {
    let sql = "SELECT * FROM {schema}.log($1, $2, $3)";
    let values: [Value<'_>; _] = [
        (&execution.map(|id| id.as_uuid()), Type::UUID),
        (&integer(after), Type::INT8),
        (&limit(at_most), Type::INT8),
    ];
    let found = database.rows(sql, &values).await?;
    let logged = found.iter().map(|row| {
        let offset = rows::offset(row, "offset")?;
        let logged = rows::logged(offset, row);
        Ok(logged.map_err(|damaged| DamagedRecord { offset, damaged }))
    });
    logged.collect()
}

pub(super) async fn last_offset(database: &Database) -> Result<u64, StoreError> {
    let sql = "SELECT {schema}.last_offset() AS last";
    let found = database.rows(sql, &[]).await?;
    let [row] = &found[..] else {
        unreachable!("a query of a value has one row");
    };
    Ok(rows::offset(row, "last")?)
}
