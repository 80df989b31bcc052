//! Finds the executions that cannot continue with the flows of this process.

use flow_store::{ExecutionId, ListQuery, Row, Status, Store as _};

use super::{PAGE, Shared};
use crate::error::RuntimeError;
use crate::options::StoredOptions;

impl Shared {
    /// The executions of the flows registered here, of all owners, that have one of these statuses
    /// and cannot continue here, with the errors. Writes nothing. `thoroughly` also replays those
    /// that wait on the current version: a type may have changed while its name has not.
    pub(crate) async fn stranded(
        &self,
        statuses: &[Status],
        thoroughly: bool,
    ) -> Result<Vec<(ExecutionId, RuntimeError)>, RuntimeError> {
        let mut names = self.registry.names_to_take();
        names.sort_unstable();
        let mut stranded = Vec::new();
        for name in names {
            for row in self.rows_of(&name, statuses).await? {
                let mut judged = self.judge_stored(&row, thoroughly).await;
                if judged.as_ref().is_err_and(RuntimeError::is_of_store) {
                    // Only one reply may have been lost. What cannot be read again is named, so that
                    // it does not keep the others from being judged.
                    judged = self.judge_stored(&row, thoroughly).await;
                }
                match judged {
                    Ok(()) | Err(RuntimeError::NotFound(_)) => {}
                    Err(error) => stranded.push((row.id, error)),
                }
            }
        }
        Ok(stranded)
    }

    /// The executions of a flow that have one of these statuses, without damaged ones. Whoever
    /// lists executions sees those.
    pub(crate) async fn rows_of(
        &self,
        flow: &str,
        statuses: &[Status],
    ) -> Result<Vec<Row>, RuntimeError> {
        let mut found = Vec::new();
        for status in statuses {
            let mut query = ListQuery {
                flow: Some(flow.to_owned()),
                status: Some(*status),
                limit: Some(PAGE),
                ..ListQuery::default()
            };
            loop {
                let page = self.store.list(&query).await?;
                let rows: Vec<Row> = page.into_iter().flatten().collect();
                query.before = rows.last().map(|row| row.id);
                found.extend(rows);
                if query.before.is_none() {
                    break;
                }
            }
        }
        Ok(found)
    }

    async fn judge_stored(&self, row: &Row, thoroughly: bool) -> Result<(), RuntimeError> {
        if thoroughly {
            let version = self.registry.version(row).await?;
            return self.judge_to_answer(row, &version).await.map(|_| ());
        }
        let is_known = self
            .registry
            .known_version(row)
            .is_some_and(|version| version.hash() == row.structure);
        if is_known && StoredOptions::part_of(row).is_none() {
            return Ok(());
        }
        let version = self.registry.version(row).await?;
        self.judge(row, &version).await.map(|_| ())
    }

    /// The waiting executions that cannot continue here, with the errors. Until something happens
    /// they are not resumed, so this notes the errors for those who wait for them.
    pub(crate) async fn stranded_while_paused(
        &self,
    ) -> Result<Vec<(ExecutionId, RuntimeError)>, RuntimeError> {
        let stranded = self.stranded(&[Status::Paused], false).await?;
        for (id, error) in &stranded {
            self.claims.cannot_continue(*id, error.clone());
        }
        Ok(stranded)
    }

    /// The unfinished executions that could not continue here, with the errors.
    pub(crate) async fn refused(&self) -> Result<Vec<(ExecutionId, RuntimeError)>, RuntimeError> {
        let known = self.claims.refused();
        let mut refused = Vec::new();
        for (id, error) in known {
            let row = self.store.without_result(id).await;
            let row = row.map_err(RuntimeError::of(id))?;
            if row.is_some_and(|row| !row.status.is_over()) {
                refused.push((id, error));
            } else {
                self.claims.forget_halt(id);
            }
        }
        Ok(refused)
    }
}
