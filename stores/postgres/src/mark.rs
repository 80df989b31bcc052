//! Marks of halted executions. Writing one is idempotent, so a lost answer does no harm.

use flow_store::{ExecutionId, Mark, StoreError};
use tokio_postgres::types::Type;

use super::database::{Database, Value};
use super::given::integer;
use super::text;

/// Writes the reason of a halt, the number of takeovers, and perhaps new options.
pub(super) async fn mark(
    database: &Database,
    id: ExecutionId,
    fence: u64,
    mark: &Mark,
) -> Result<(), StoreError> {
    let sql = "UPDATE {schema}.executions SET halted = $3, take_overs = $4, taken_over_at = $5, options = coalesce($6, options) \
         WHERE id = $1 AND fence = $2 AND holder IS NOT NULL RETURNING id";
    let values: [Value<'_>; _] = [
        (&id.as_uuid(), Type::UUID),
        (&integer(fence), Type::INT8),
        (&mark.halted.as_deref().map(text::stored), Type::TEXT),
        (&mark.take_overs.map(|it| i64::from(it.count)), Type::INT8),
        (&mark.take_overs.map(|it| integer(it.at_seq)), Type::INT8),
        (&mark.options.as_deref().map(text::stored), Type::TEXT),
    ];
    if !database.rows(sql, &values).await?.is_empty() {
        return Ok(());
    }
    let sql = "SELECT FROM {schema}.executions WHERE id = $1";
    let found = database.rows(sql, &[(&id.as_uuid(), Type::UUID)]).await?;
    Err(if found.is_empty() {
        StoreError::NotFound(id)
    } else {
        StoreError::LeaseLost(id)
    })
}
