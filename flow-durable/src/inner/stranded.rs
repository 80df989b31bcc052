//! Finds the executions that cannot continue with the flows of this process.

use flow_store::{ExecutionId, ListQuery, Row, Status, Store as _};

use super::{Inner, PAGE, lock};
use crate::error::RuntimeError;
use crate::options::StoredOptions;

impl Inner {
    /// The executions of the flows that are registered here, whoever owns them, that have one of these
    /// statuses and cannot continue here, and why. Nothing is written. A type may have changed whose
    /// name has not: `thoroughly` also replays those that wait and have the version of today.
    pub(crate) async fn stranded(
        &self,
        statuses: &[Status],
        thoroughly: bool,
    ) -> Result<Vec<(ExecutionId, RuntimeError)>, RuntimeError> {
        let mut names = self.names_to_take();
        names.sort_unstable();
        let mut stranded = Vec::new();
        for name in names {
            for row in self.rows_of(&name, statuses).await? {
                if let Err(error) = self.judge_stored(&row, thoroughly).await {
                    stranded.push((row.id, error));
                }
            }
        }
        Ok(stranded)
    }

    /// The executions of a flow that have one of these statuses. Whoever lists executions is told of
    /// damaged ones.
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
            let version = self.version(row).await?;
            return self.judge_to_answer(row, &version).await.map(|_| ());
        }
        let is_known = self
            .known_version(row)
            .is_some_and(|version| version.hash() == row.structure);
        if is_known && StoredOptions::part_of(row).is_none() {
            return Ok(());
        }
        let version = self.version(row).await?;
        self.judge(row, &version).await.map(|_| ())
    }

    /// The same for those that wait, of which nobody would learn otherwise: they are not resumed until
    /// something happens. Whoever waits for them is told why they cannot continue.
    pub(crate) async fn stranded_while_paused(
        &self,
    ) -> Result<Vec<(ExecutionId, RuntimeError)>, RuntimeError> {
        let stranded = self.stranded(&[Status::Paused], false).await?;
        let mut halted = lock(&self.halted);
        for (id, error) in &stranded {
            halted.insert(*id, error.clone());
        }
        Ok(stranded)
    }

    /// The executions that could not continue here, of those that are not over, and why.
    pub(crate) async fn refused(&self) -> Result<Vec<(ExecutionId, RuntimeError)>, RuntimeError> {
        let known = lock(&self.halted).refused();
        let mut refused = Vec::new();
        for (id, error) in known {
            let row = self.store.without_result(id).await;
            let row = row.map_err(RuntimeError::of(id))?;
            if row.is_some_and(|row| !row.status.is_over()) {
                refused.push((id, error));
            } else {
                lock(&self.halted).remove(&id);
            }
        }
        Ok(refused)
    }
}
