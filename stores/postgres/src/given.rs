//! Data to write, as JSON: the functions in the database take rows by the names of their columns.

use std::borrow::Cow;

use flow_store::{Claim, PauseRow, PauseState, Record, Row, refusal};
use serde::Serialize;
use uuid::Uuid;

use super::text;

pub(super) fn integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Returns the length of a claim, which the database adds to a time.
pub(super) fn lease(lease_ms: u64) -> i64 {
    integer(lease_ms.min(1 << 60))
}

pub(super) fn limit(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Returns values for an array, or `None` if there are none.
pub(super) fn some<T>(values: Vec<T>) -> Option<Vec<T>> {
    Some(values).filter(|values| !values.is_empty())
}

fn optional(number: Option<u64>) -> Option<i64> {
    number.map(integer)
}

#[derive(Serialize)]
struct GivenRecord<'a> {
    seq: i64,
    at_ms: i64,
    kind: &'static str,
    path: Cow<'a, str>,
    step: Cow<'a, str>,
    visit: u32,
    item: Option<u32>,
    attempt: u32,
    payload: Cow<'a, str>,
}

fn given_record(record: &Record) -> GivenRecord<'_> {
    GivenRecord {
        seq: integer(record.seq),
        at_ms: integer(record.at_ms),
        kind: record.kind.as_str(),
        path: text::stored(&record.path),
        step: text::stored(&record.step),
        visit: record.visit,
        item: record.item,
        attempt: record.attempt,
        payload: text::stored(&record.payload),
    }
}

#[derive(Serialize)]
struct GivenPause<'a> {
    token: Uuid,
    execution: Uuid,
    path: Cow<'a, str>,
    step: Cow<'a, str>,
    prompt: Cow<'a, str>,
    expected: Cow<'a, str>,
    schema: Option<Cow<'a, str>>,
    created_ms: i64,
    expires_ms: Option<i64>,
    state: &'static str,
    answer: Option<Cow<'a, str>>,
}

fn given_pause(pause: &PauseRow) -> GivenPause<'_> {
    let (state, answer) = state(&pause.state);
    GivenPause {
        token: pause.token.as_uuid(),
        execution: pause.execution.as_uuid(),
        path: text::stored(&pause.path),
        step: text::stored(&pause.step),
        prompt: text::stored(&pause.prompt),
        expected: text::stored(&pause.expected),
        schema: pause.schema.as_deref().map(text::stored),
        created_ms: integer(pause.created_ms),
        expires_ms: optional(pause.expires_ms),
        state,
        answer,
    }
}

/// Returns the name of a state, and the answer.
pub(super) fn state(state: &PauseState) -> (&'static str, Option<Cow<'_, str>>) {
    match state {
        PauseState::Open => ("open", None),
        PauseState::Answered(answer) => ("answered", Some(text::stored(answer))),
        PauseState::TimedOut => ("timed_out", None),
        PauseState::Used => ("used", None),
        PauseState::Expired => ("expired", None),
        PauseState::Withdrawn => ("withdrawn", None),
    }
}

#[derive(Serialize)]
struct GivenRow<'a> {
    id: Uuid,
    flow: Cow<'a, str>,
    structure: Cow<'a, str>,
    owner: Option<Cow<'a, str>>,
    idempotency_key: Option<Cow<'a, str>>,
    input_hash: Cow<'a, str>,
    status: &'static str,
    format: u32,
    options: Cow<'a, str>,
    created_ms: i64,
    updated_ms: i64,
    next_seq: i64,
    snapshot_seq: Option<i64>,
    copied_from: Option<Uuid>,
    result: Option<Cow<'a, str>>,
    fence: i64,
    holder: Option<Uuid>,
    claimed_until_ms: Option<i64>,
    lease_ms: Option<i64>,
    settled: i64,
    priority: i32,
    not_before_ms: Option<i64>,
    concurrency_key: Option<Cow<'a, str>>,
    concurrency_limit: Option<u32>,
    cancelled_ms: Option<i64>,
    created_by_call: Uuid,
}

/// Returns a new execution whose next record has this number. The database makes its claim, unless
/// claims are judged by the clocks of callers.
pub(super) fn row(
    row: &Row,
    records: &[Record],
    next_seq: u64,
    claim: Option<Claim>,
    claims_at: Option<i64>,
    call: Uuid,
) -> String {
    json(&GivenRow {
        id: row.id.as_uuid(),
        flow: text::stored(&row.flow),
        structure: text::stored(&row.structure),
        owner: row.owner.as_deref().map(text::stored),
        idempotency_key: row.idempotency_key.as_deref().map(text::stored),
        input_hash: text::stored(&row.input_hash),
        status: row.status.as_str(),
        format: row.format,
        options: text::stored(&row.options),
        created_ms: integer(row.created_ms),
        updated_ms: integer(row.updated_ms),
        next_seq: integer(next_seq),
        snapshot_seq: optional(refusal::newest_snapshot(records).or(row.snapshot_seq)),
        copied_from: row.copied_from.map(|id| id.as_uuid()),
        result: row.result.as_deref().map(text::stored),
        fence: i64::from(claim.is_some()),
        holder: claim.map(|claim| claim.holder),
        claimed_until_ms: claims_at.and(claim).map(|claim| integer(claim.until_ms)),
        lease_ms: claim.map(|claim| lease(claim.lease_ms)),
        settled: 0,
        priority: row.priority,
        not_before_ms: optional(row.not_before_ms),
        concurrency_key: row.concurrency.as_ref().map(|it| text::stored(&it.key)),
        concurrency_limit: row.concurrency.as_ref().map(|it| it.at_most),
        cancelled_ms: optional(row.cancelled_ms),
        created_by_call: call,
    })
}

/// Returns records, or `None` if there are none.
pub(super) fn records(records: &[Record]) -> Option<String> {
    let given: Vec<_> = records.iter().map(given_record).collect();
    (!given.is_empty()).then(|| json(&given))
}

pub(super) fn record(record: &Record) -> String {
    json(&given_record(record))
}

/// Returns questions, or `None` if there are none.
pub(super) fn pauses(pauses: &[PauseRow]) -> Option<String> {
    let given: Vec<_> = pauses.iter().map(given_pause).collect();
    (!given.is_empty()).then(|| json(&given))
}

pub(super) fn json(given: &impl Serialize) -> String {
    let json = serde_json::to_string(given);
    json.unwrap_or_else(|error| unreachable!("numbers, texts and UUIDs are JSON: {error}"))
}
