//! Journals, values and writes of executions.

use axum::Json;
use serde::Deserialize;
use utoipa::IntoParams;

use super::extract::{Id, Params, page_size};
use crate::access::Caller;
use crate::problem::Problem;
use crate::views::{JournalView, ProblemView, RecordView, StateView, WritesView};

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordsParams {
    /// The number of the first record: 0 by default.
    #[serde(default)]
    from: u64,
    /// The maximum number of records: 100 by default, at most 1000.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<usize>,
    /// A signed link, in place of a token.
    #[serde(rename = "link")]
    #[param(ignore)]
    _link: Option<String>,
}

/// A part of the journal of an execution
#[utoipa::path(get, path = "/executions/{id}/journal", operation_id = "get_journal", tag = "looking back",
    params(("id" = String, Path, format = "uuid", description = "The id of the execution"), RecordsParams),
    responses(
        (status = 200, description = "A part of the journal", body = JournalView),
        (status = "4XX", description = "The request was not carried out", body = ProblemView, content_type = "application/problem+json"),
    ))]
pub(super) async fn records(
    caller: Caller,
    Id(id): Id,
    Params(params): Params<RecordsParams>,
) -> Result<Json<JournalView>, Problem> {
    let limit = page_size(params.limit)?;
    let execution = caller.execution(id).await?;
    let records = execution.records(params.from, limit).await?;
    let is_full = records.len() == limit;
    let last = records.last().map(|last| last.seq + 1);
    Ok(Json(JournalView {
        records: records
            .into_iter()
            .map(|record| RecordView::of(id, record))
            .collect(),
        next: last.filter(|next| is_full && *next < execution.record_count()),
    }))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct AtParams {
    /// The number of the record: the newest one by default.
    seq: Option<u64>,
    /// A signed link, in place of a token.
    #[serde(rename = "link")]
    #[param(ignore)]
    _link: Option<String>,
}

/// The values of an execution after a record
#[utoipa::path(get, path = "/executions/{id}/state", operation_id = "get_state", tag = "looking back",
    params(("id" = String, Path, format = "uuid", description = "The id of the execution"), AtParams),
    responses(
        (status = 200, description = "The values", body = StateView),
        (status = "4XX", description = "The request was not carried out", body = ProblemView, content_type = "application/problem+json"),
    ))]
pub(super) async fn state(
    caller: Caller,
    Id(id): Id,
    Params(params): Params<AtParams>,
) -> Result<Json<StateView>, Problem> {
    let newest = caller.execution(id).await?.record_count().saturating_sub(1);
    let executions = caller.executions_with(id).await?;
    let state = executions.state(id, params.seq.unwrap_or(newest)).await?;
    Ok(Json(StateView::of(&state)))
}

/// The nodes that wrote the values of an execution
#[utoipa::path(get, path = "/executions/{id}/writes", operation_id = "get_writes", tag = "looking back",
    params(("id" = String, Path, format = "uuid", description = "The id of the execution"), AtParams),
    responses(
        (status = 200, description = "The writes", body = WritesView),
        (status = "4XX", description = "The request was not carried out", body = ProblemView, content_type = "application/problem+json"),
    ))]
pub(super) async fn writes(
    caller: Caller,
    Id(id): Id,
    Params(params): Params<AtParams>,
) -> Result<Json<WritesView>, Problem> {
    let newest = caller.execution(id).await?.record_count().saturating_sub(1);
    let executions = caller.executions_with(id).await?;
    let writes = executions.writes(id, params.seq.unwrap_or(newest)).await?;
    Ok(Json(WritesView { writes }))
}
