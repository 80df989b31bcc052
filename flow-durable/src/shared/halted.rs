//! Continues halted executions.

use flow_store::{ExecutionId, ListQuery, Mark, Row, Store as _};

use super::{PAGE, Shared, halted};
use crate::error::RuntimeError;
use crate::options::StoredOptions;

impl Shared {
    /// Continues the halted executions, except those that have lost their process too often.
    /// Returns those that stay halted, with the errors.
    pub(super) async fn release_halted(
        &self,
    ) -> Result<Vec<(ExecutionId, RuntimeError)>, RuntimeError> {
        let mut refused = Vec::new();
        let mut query = ListQuery {
            halted: Some(true),
            limit: Some(PAGE),
            ..ListQuery::default()
        };
        loop {
            let page = self.store.list(&query).await?;
            // A damaged execution is found by other means.
            let rows: Vec<Row> = page.into_iter().flatten().collect();
            for row in &rows {
                let error = match halted(row) {
                    Some(error) if self.claims.is_lost_too_often(row) => error,
                    _ => match self.continues(row, None).await {
                        Ok(_) => continue,
                        Err(error) => error,
                    },
                };
                refused.push((row.id, error));
            }
            query.before = rows.last().map(|row| row.id);
            if query.before.is_none() {
                return Ok(refused);
            }
        }
    }

    /// Continues a halted execution, if its flow is registered: from then on it is due. It then has
    /// these options, if there are any. Returns false and changes nothing if somebody else has it,
    /// who may continue it.
    pub(crate) async fn continues(
        &self,
        row: &Row,
        options: Option<&StoredOptions>,
    ) -> Result<bool, RuntimeError> {
        self.registry.version(row).await?;
        let _call = self.claims.begin();
        let Some(row) = self.claims.claim(row.id, self.claims.term()).await? else {
            return Ok(false);
        };
        self.claims.to_release(row.id, row.fence);
        let mark = Mark {
            options: options.map(StoredOptions::to_json),
            ..Mark::default()
        };
        let marked = self.claims.mark(row.id, row.fence, mark).await;
        self.claims.release_one(row.id, row.fence).await;
        marked?;
        self.claims.forget_halt(row.id);
        Ok(true)
    }
}
