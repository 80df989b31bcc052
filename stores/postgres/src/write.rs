//! Writes. Each is one statement. If the connection is lost before the answer, the statement runs
//! again, and detects whether it had its effect before: by the fence and the numbers of records, or
//! by the id of the call, which is stored with its writes.

use deadpool_postgres::Client;
use flow_store::hints::Written;
use flow_store::{
    Append, Claim, Created, EndIf, ExecutionId, PauseRow, PauseState, Record, Renewal, Row,
    Settlement, Status, StoreError, Take, Token, refusal,
};
use tokio_postgres::Row as Found;
use tokio_postgres::types::Type;
use uuid::Uuid;

use super::database::{Answer, Database, Value};
use super::errors::{self, CallError, Effect, Failure, store_error};
use super::given::{self, integer};
use super::{read, rows, text};

pub(super) async fn create(
    database: &Database,
    row: &Row,
    records: &[Record],
    pauses: &[PauseRow],
    claim: Option<Claim>,
) -> Result<Created, StoreError> {
    refusal::names(row)?;
    let next_seq = match records.first() {
        Some(first) => refusal::sequence(row.id, first.seq, records)?,
        None => row.next_seq,
    };
    refusal::questions_of(row.id, pauses)?;
    let claim = claim.filter(|_| !row.status.is_over());
    let claims_at = database.claims_at(0);
    let call = Uuid::new_v4();
    let given = given::row(row, records, next_seq, claim, claims_at, call);
    let (records, pauses) = (given::records(records), given::pauses(pauses));
    let sql = "SELECT {schema}.new_execution($1, $2, $3) AS id";
    let values: [Value<'_>; _] = [
        (&given, Type::TEXT),
        (&records, Type::TEXT),
        (&pauses, Type::TEXT),
    ];
    let Answer {
        mut result,
        mut again,
    } = database.call(sql, &values).await;
    let is_taken = |error| errors::violated(error) == Some("executions_pkey");
    if row.idempotency_key.is_some() && result.as_ref().is_err_and(is_taken) {
        // A concurrent one may have the id, and perhaps the key: then a later call reports it.
        let answer = database.call(sql, &values).await;
        (result, again) = (answer.result, again | answer.again);
    }
    match result {
        Ok(found) => {
            let existing = found.first().and_then(|row| row.get::<_, Option<Uuid>>(0));
            match existing.map(ExecutionId::from) {
                Some(id) if again && id == row.id && is_created_by(database, id, call).await? => {
                    Ok(Created::New)
                }
                Some(id) => Ok(Created::Existing(id)),
                None => {
                    database.tell(Written {
                        records: true,
                        work: !row.status.is_over() && claim.is_none(),
                    });
                    Ok(Created::New)
                }
            }
        }
        Err(error) => match errors::violated(&error) {
            Some("executions_pkey") if again && is_created_by(database, row.id, call).await? => {
                Ok(Created::New)
            }
            Some("executions_pkey") => Err(refusal::id_taken(row.id)),
            Some("pauses_pkey") => Err(refusal::token_taken()),
            _ => Err(store_error(error)),
        },
    }
}

/// Adds a part of a loop for the holder of a claim. The execution with the loop is locked until the
/// part is stored.
pub(super) async fn create_part(
    database: &Database,
    of: ExecutionId,
    fence: u64,
    row: &Row,
    records: &[Record],
) -> Result<Created, StoreError> {
    refusal::names(row)?;
    let next_seq = match records.first() {
        Some(first) => refusal::sequence(row.id, first.seq, records)?,
        None => row.next_seq,
    };
    let given = given::row(
        row,
        records,
        next_seq,
        None,
        database.claims_at(0),
        Uuid::new_v4(),
    );
    let records = given::records(records);
    let fence = given::integer(fence);
    let sql = "WITH whole AS MATERIALIZED (
            SELECT id FROM {schema}.executions
            WHERE id = $3 AND fence = $4 AND holder IS NOT NULL FOR SHARE
        )
        SELECT {schema}.new_execution($1, $2, NULL) FROM whole";
    let values: [Value<'_>; _] = [
        (&given, Type::TEXT),
        (&records, Type::TEXT),
        (&of.as_uuid(), Type::UUID),
        (&fence, Type::INT8),
    ];
    match database.call(sql, &values).await.result {
        Ok(found) if found.is_empty() => {
            let sql = "SELECT FROM {schema}.executions WHERE id = $1";
            let whole = database.call(sql, &[(&of.as_uuid(), Type::UUID)]).await;
            let whole = whole.result.map_err(store_error)?;
            Err(if whole.is_empty() {
                StoreError::NotFound(of)
            } else {
                StoreError::LeaseLost(of)
            })
        }
        Ok(_) => {
            database.tell(Written {
                records: true,
                work: !row.status.is_over(),
            });
            Ok(Created::New)
        }
        Err(error) if errors::violated(&error) == Some("executions_pkey") => {
            Ok(Created::Existing(row.id))
        }
        Err(error) => Err(store_error(error)),
    }
}

/// Returns `true` if this call created the execution and its answer was lost.
async fn is_created_by(
    database: &Database,
    id: ExecutionId,
    call: Uuid,
) -> Result<bool, StoreError> {
    let sql = "SELECT FROM {schema}.executions WHERE id = $1 AND created_by_call = $2";
    let values: [Value<'_>; _] = [(&id.as_uuid(), Type::UUID), (&call, Type::UUID)];
    Ok(!database.rows(sql, &values).await?.is_empty())
}

pub(super) async fn put_structure(
    database: &Database,
    hash: &str,
    structure: &str,
) -> Result<(), StoreError> {
    let (hash, structure) = (text::stored(hash), text::stored(structure));
    let sql = "INSERT INTO {schema}.structures VALUES ($1, $2) ON CONFLICT DO NOTHING";
    database
        .rows(sql, &[(&hash, Type::TEXT), (&structure, Type::TEXT)])
        .await?;
    Ok(())
}

pub(super) async fn claim(
    database: &Database,
    id: ExecutionId,
    holder: Uuid,
    now_ms: u64,
    until_ms: u64,
) -> Result<Option<Row>, StoreError> {
    let claim = Claim::new(holder, now_ms, until_ms);
    let sql = "UPDATE {schema}.executions \
         SET fence = fence + 1, holder = $2, claimed_until_ms = {schema}.clock_ms($3) + $4, lease_ms = $4, \
             claimed_by_call = $5 \
         WHERE id = $1 AND status NOT IN ('completed', 'failed', 'cancelled') \
             AND (holder IS NULL OR claimed_until_ms <= {schema}.clock_ms($3)) RETURNING *";
    let call = Uuid::new_v4();
    let values: [Value<'_>; _] = [
        (&id.as_uuid(), Type::UUID),
        (&holder, Type::UUID),
        (&database.claims_at(now_ms), Type::INT8),
        (&given::lease(claim.lease_ms), Type::INT8),
        (&call, Type::UUID),
    ];
    let Answer { result, again } = database.call(sql, &values).await;
    let mut found = result.map_err(store_error)?;
    if found.is_empty() && again {
        // A claim that its holder does not know would keep everybody out.
        let sql = "SELECT * FROM {schema}.executions \
             WHERE id = $1 AND holder = $2 AND claimed_by_call = $3";
        let values: [Value<'_>; _] = [
            (&id.as_uuid(), Type::UUID),
            (&holder, Type::UUID),
            (&call, Type::UUID),
        ];
        found = database.rows(sql, &values).await?;
    }
    let row = found.first().map(rows::execution).transpose()?;
    Ok(row)
}

pub(super) async fn break_claim(
    database: &Database,
    id: ExecutionId,
    claim: Claim,
) -> Result<bool, StoreError> {
    let sql = "UPDATE {schema}.executions SET claimed_until_ms = lease_ms \
         WHERE id = $1 AND holder = $2 AND lease_ms = $4 \
             AND (claimed_until_ms = $3 OR {again} AND claimed_until_ms = lease_ms) RETURNING id";
    let values: [Value<'_>; _] = [
        (&id.as_uuid(), Type::UUID),
        (&claim.holder, Type::UUID),
        (&integer(claim.until_ms), Type::INT8),
        (&integer(claim.lease_ms), Type::INT8),
    ];
    Ok(!database.rows(sql, &values).await?.is_empty())
}

pub(super) async fn renew(
    database: &Database,
    holder: Uuid,
    until_ms: u64,
) -> Result<Vec<Renewal>, StoreError> {
    // Locks in one order prevent deadlocks between statements.
    let sql = "WITH held AS ( \
             SELECT id, fence FROM {schema}.executions WHERE holder = $1 ORDER BY id FOR UPDATE \
         ), renewed AS ( \
             UPDATE {schema}.executions AS e \
             SET claimed_until_ms = greatest(claimed_until_ms, coalesce($2, {schema}.clock_ms(NULL) + lease_ms)) \
             FROM held WHERE e.id = held.id \
         ) SELECT id, fence FROM held ORDER BY id";
    let values: [Value<'_>; _] = [
        (&holder, Type::UUID),
        (&database.claims_at(until_ms), Type::INT8),
    ];
    let found = database.rows(sql, &values).await?;
    // One that is damaged does not cost the others their claims.
    Ok(found.iter().flat_map(read::renewal).collect())
}

pub(super) async fn append(
    database: &Database,
    id: ExecutionId,
    fence: u64,
    append: &Append,
) -> Result<(), StoreError> {
    check(id, append)?;
    let Answer { result, again } = call_append(database, None, id, fence, append).await;
    let error = match result {
        Ok(found) => {
            database.tell(told_of(append, &found));
            return Ok(());
        }
        Err(error) => error,
    };
    if again && is_written(database, id, fence, append).await? {
        database.tell(Written {
            records: true,
            work: true,
        });
        return Ok(());
    }
    Err(refused(id, append, error))
}

/// Returns the hints for an append with this answer.
fn told_of(append: &Append, answer: &[Found]) -> Written {
    let has_work = answer.iter().any(|row| row.get(0));
    // A process that pauses an execution resumes it itself.
    let gives_up = append.release && append.status.is_none_or(|status| status == Status::Running);
    Written {
        records: !append.records.is_empty(),
        work: has_work || gives_up,
    }
}

/// Appends in a transaction that has begun on this connection. Returns the hints to send after the
/// commit.
pub(super) async fn append_in(
    database: &Database,
    client: &Client,
    id: ExecutionId,
    fence: u64,
    append: &Append,
) -> Result<Written, StoreError> {
    check(id, append)?;
    let answer = call_append(database, Some(client), id, fence, append).await;
    match answer.result {
        Ok(found) => Ok(told_of(append, &found)),
        Err(error) if error.effect() == Effect::Unknown => Err(Failure::TransactionLost.into()),
        Err(error) => Err(refused(id, append, error)),
    }
}

/// Checks that an append is consistent in itself.
fn check(id: ExecutionId, append: &Append) -> Result<(), StoreError> {
    refusal::stored_status(id, append.status)?;
    refusal::questions_of(id, &append.opened)?;
    refusal::sequence(id, first_seq(append), &append.records)?;
    Ok(())
}

/// Returns the number of the first record, which the database checks only if there is one.
fn first_seq(append: &Append) -> u64 {
    append.records.first().map_or(0, |record| record.seq)
}

async fn call_append(
    database: &Database,
    client: Option<&Client>,
    id: ExecutionId,
    fence: u64,
    append: &Append,
) -> Answer {
    let records = &append.records;
    let closed: Vec<Uuid> = append.closed.iter().map(Token::as_uuid).collect();
    let taken: Vec<i64> = append.taken.iter().copied().map(integer).collect();
    let awaited: Vec<_> = append.awaited.iter().map(|it| text::stored(it)).collect();
    let values: [Value<'_>; _] = [
        (&id.as_uuid(), Type::UUID),
        (&integer(fence), Type::INT8),
        (&integer(append.now_ms), Type::INT8),
        (&integer(first_seq(append)), Type::INT8),
        (&given::limit(records.len()), Type::INT8),
        (&refusal::newest_snapshot(records).map(integer), Type::INT8),
        (&given::records(records), Type::TEXT),
        (&given::pauses(&append.opened), Type::TEXT),
        (&given::some(closed), Type::UUID_ARRAY),
        (&append.status.map(Status::as_str), Type::TEXT),
        (&append.result.as_deref().map(text::stored), Type::TEXT),
        (&append.structure.as_deref().map(text::stored), Type::TEXT),
        (&append.timer_ms.map(integer), Type::INT8),
        (&append.release, Type::BOOL),
        (&append.prune_before.map(integer), Type::INT8),
        (&given::some(taken), Type::INT8_ARRAY),
        (&given::some(awaited), Type::TEXT_ARRAY),
    ];
    let sql = "SELECT {schema}.append($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)";
    match client {
        Some(client) => database.call_on(client, sql, &values).await,
        None => database.call(sql, &values).await,
    }
}

/// Returns the reason why an append was refused.
fn refused(id: ExecutionId, append: &Append, error: CallError) -> StoreError {
    let Some((code, detail)) = errors::refused(&error) else {
        return store_error(error);
    };
    match code {
        errors::NOT_FOUND => StoreError::NotFound(id),
        errors::LEASE_LOST => StoreError::LeaseLost(id),
        errors::GAP => {
            let expected = detail.parse().ok();
            let sequence = expected.map(|seq| refusal::sequence(id, seq, &append.records));
            match sequence {
                Some(Err(gap)) => gap,
                Some(Ok(_)) | None => store_error(error),
            }
        }
        errors::UNKNOWN_TOKEN => match detail.parse() {
            Ok(token) => StoreError::UnknownToken(token),
            Err(_) => store_error(error),
        },
        errors::NOT_A_SNAPSHOT => match append.prune_before {
            Some(seq) => refusal::not_a_snapshot(id, seq),
            None => store_error(error),
        },
        errors::NOT_A_SIGNAL => match detail.parse() {
            Ok(number) => refusal::not_a_signal(id, number),
            Err(_) => store_error(error),
        },
        _ if errors::violated(&error) == Some("pauses_pkey") => refusal::token_taken(),
        _ => store_error(error),
    }
}

/// Returns `true` if an append with this fence, whose answer was lost, has been written. Nobody
/// else writes with the same fence.
async fn is_written(
    database: &Database,
    id: ExecutionId,
    fence: u64,
    append: &Append,
) -> Result<bool, StoreError> {
    let Some(row) = read::execution(database, id).await? else {
        return Ok(false);
    };
    if row.fence != fence {
        return Ok(false);
    }
    let Some(last) = append.records.last() else {
        let status = append.status.unwrap_or(row.status);
        return Ok(row.updated_ms == append.now_ms && row.status == status);
    };
    let sql = "SELECT FROM {schema}.records WHERE execution = $1 AND seq = $2 AND step = $3";
    let values: [Value<'_>; _] = [
        (&id.as_uuid(), Type::UUID),
        (&integer(last.seq), Type::INT8),
        (&text::stored(&last.step), Type::TEXT),
    ];
    Ok(!database.rows(sql, &values).await?.is_empty())
}

/// Finds out whether a transaction with this append was committed if the answer was lost.
pub(super) async fn is_committed(
    database: &Database,
    id: ExecutionId,
    fence: u64,
    append: &Append,
) -> Result<(), StoreError> {
    // It may still be in progress in the database: the lock waits for it.
    let sql = "SELECT fence FROM {schema}.executions WHERE id = $1 FOR SHARE";
    let found = database.rows(sql, &[(&id.as_uuid(), Type::UUID)]).await?;
    let found = found.first().ok_or(StoreError::NotFound(id))?;
    if found.get::<_, i64>(0) != integer(fence) {
        // A process that took over may have written the same record itself.
        return Err(StoreError::LeaseLost(id));
    }
    if is_written(database, id, fence, append).await? {
        return Ok(());
    }
    Err(Failure::TransactionLost.into())
}

pub(super) async fn end(
    database: &Database,
    id: ExecutionId,
    status: Status,
    reason: &str,
    record: &Record,
    condition: EndIf,
) -> Result<Row, StoreError> {
    refusal::is_an_end(status)?;
    let since = match condition {
        EndIf::NotOver | EndIf::Queued => None,
        EndIf::PausedUntouchedSince(ms) => Some(integer(ms)),
    };
    let sql = "SELECT * FROM {schema}.end_execution($1, $2, $3, $4, $5, $6, $7)";
    let values: [Value<'_>; _] = [
        (&id.as_uuid(), Type::UUID),
        (&status.as_str(), Type::TEXT),
        (&text::stored(reason), Type::TEXT),
        (&integer(record.at_ms), Type::INT8),
        (&given::record(record), Type::TEXT),
        (&since, Type::INT8),
        (&(condition == EndIf::Queued), Type::BOOL),
    ];
    let found = database.rows(sql, &values).await?;
    let row = found.first().ok_or(StoreError::NotFound(id))?;
    let row = rows::execution(row)?;
    database.tell(Written {
        records: true,
        work: row.concurrency.is_some(),
    });
    Ok(row)
}

pub(super) async fn reopen(
    database: &Database,
    id: ExecutionId,
    status: Status,
    record: &Record,
) -> Result<Row, StoreError> {
    refusal::is_reopened(status)?;
    let sql = "SELECT * FROM {schema}.reopen_execution($1, $2, $3, $4, $5)";
    let values: [Value<'_>; _] = [
        (&id.as_uuid(), Type::UUID),
        (&status.as_str(), Type::TEXT),
        (&integer(record.seq), Type::INT8),
        (&integer(record.at_ms), Type::INT8),
        (&given::record(record), Type::TEXT),
    ];
    let found = database.rows(sql, &values).await?;
    let row = found.first().ok_or(StoreError::NotFound(id))?;
    let row = rows::execution(row)?;
    database.tell(Written {
        records: true,
        work: true,
    });
    Ok(row)
}

pub(super) async fn settle(
    database: &Database,
    token: Token,
    settlement: Settlement,
    now_ms: u64,
) -> Result<PauseRow, StoreError> {
    let settled = PauseState::from(settlement);
    let (state, answer) = given::state(&settled);
    let sql = "SELECT * FROM {schema}.settle($1, $2, $3, $4, $5)";
    let values: [Value<'_>; _] = [
        (&token.as_uuid(), Type::UUID),
        (&state, Type::TEXT),
        (&answer, Type::TEXT),
        (&integer(now_ms), Type::INT8),
        (&Uuid::new_v4(), Type::UUID),
    ];
    let found = database.rows(sql, &values).await?;
    let before = found.first().ok_or(StoreError::UnknownToken(token))?;
    database.tell(Written {
        records: false,
        work: true,
    });
    Ok(rows::pause(before)?)
}

pub(super) async fn delete(database: &Database, id: ExecutionId) -> Result<bool, StoreError> {
    let values: [Value<'_>; _] = [(&id.as_uuid(), Type::UUID)];
    // A deletion leaves nothing by which a repetition could recognise its own work.
    let sql = "SELECT FROM {schema}.executions WHERE id = $1";
    if database.rows(sql, &values).await?.is_empty() {
        return Ok(false);
    }
    let sql = "SELECT {schema}.delete_execution($1) AS deleted";
    let Answer { result, again } = database.call(sql, &values).await;
    let found = result.map_err(store_error)?;
    Ok(again || found.iter().any(|row| row.get(0)))
}

pub(super) async fn take_queued(
    database: &Database,
    take: &Take,
) -> Result<Vec<Result<Row, flow_store::Damaged>>, StoreError> {
    let places = take.flows.iter();
    let places = places.map(|(flow, places)| (text::stored(flow), given::limit(*places)));
    let places = given::json(&places.collect::<std::collections::BTreeMap<_, _>>());
    let claim = Claim::new(take.holder, take.now_ms, take.until_ms);
    let sql = "SELECT * FROM {schema}.take_queued($1, $2, $3, $4, $5, $6, $7, {again})";
    let values: [Value<'_>; _] = [
        (&places, Type::TEXT),
        (&given::limit(take.limit), Type::INT8),
        (&take.holder, Type::UUID),
        (&integer(take.now_ms), Type::INT8),
        (&database.claims_at(take.now_ms), Type::INT8),
        (&given::lease(claim.lease_ms), Type::INT8),
        (&Uuid::new_v4(), Type::UUID),
    ];
    let found = database.rows(sql, &values).await?;
    Ok(found.iter().map(rows::execution).collect())
}
