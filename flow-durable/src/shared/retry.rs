//! Lets executions continue that have failed, and the parts of their loops.

use std::sync::Arc;

use flow_store::{Record, RecordKind, Row, Status, Store as _};
use serde_json::json;

use super::load::check_format;
use super::{Loaded, Shared};
use crate::entry::Retried;
use crate::error::RuntimeError;
use crate::options::StoredOptions;
use crate::registered::Registered;
use crate::retried::{Failures, counting};
use crate::steps::missing;

impl Shared {
    /// Lets an execution that has failed continue at the step that failed.
    pub(crate) async fn retry_failed(self: &Arc<Self>, row: &Row) -> Result<(), RuntimeError> {
        let id = row.id;
        let not_retried = |reason: String| RuntimeError::NotRetried {
            execution: id,
            reason,
        };
        if let Some(part) = StoredOptions::part_of(row) {
            let reason = format!("it is a part of {}, which has to be retried", part.of);
            return Err(not_retried(reason));
        }
        if row.cancelled_ms.is_some() {
            return Err(not_retried("it was being cancelled".to_owned()));
        }
        let flow = self.registry.version_if_known(row).await?;
        let failures = self.failures(row).await?;
        let mut parts = Vec::new();
        for part in self.rows_of_parts(row).await? {
            let is_needed = StoredOptions::part_of(&part)
                .is_some_and(|part| failures.around.contains(&part.step));
            if is_needed && matches!(part.status, Status::Failed | Status::Cancelled) {
                let failures = self.failures(&part).await?;
                parts.push((part, failures));
            }
        }
        let all = std::iter::once((row, &failures));
        let all = all.chain(parts.iter().map(|(part, failures)| (part, failures)));
        for (row, failures) in all {
            if let Some(step) = &failures.undone {
                let reason =
                    format!("`{step}` was undone when it failed: copy it from a record before");
                return Err(not_retried(reason));
            }
            if let Some(flow) = &flow {
                self.replays_without(row, flow, failures).await?;
            }
        }
        // Parts that find that the execution is over end again, and continue when it needs them.
        for (part, failures) in &parts {
            self.reopen(part, failures).await?;
        }
        self.reopen(row, &failures).await?;
        self.keep_taking();
        if row.concurrency.is_none() && flow.is_some() {
            self.try_to_launch(id).await;
        }
        Ok(())
    }

    /// Lets a part continue that ended because the execution that needs it was over.
    pub(super) async fn retry_part(&self, row: &Row) -> Result<(), RuntimeError> {
        let failures = self.failures(row).await?;
        self.reopen(row, &failures).await
    }

    /// What made an execution fail.
    async fn failures(&self, row: &Row) -> Result<Failures, RuntimeError> {
        check_format(row)?;
        let from = row.snapshot_seq.unwrap_or(0);
        let records = self.records(row.id, from, None).await?;
        if let Some(seq) = missing(&records, row.next_seq) {
            return Err(RuntimeError::Unreadable {
                execution: row.id,
                path: row.flow.clone(),
                reason: format!("record {seq} is missing"),
            });
        }
        Failures::among(row.id, &counting(row.id, records)?)
    }

    /// Checks that the journal of an execution can be replayed without its failures.
    async fn replays_without(
        &self,
        row: &Row,
        flow: &Arc<Registered>,
        failures: &Failures,
    ) -> Result<(), RuntimeError> {
        let loaded = self.load(row, flow, None).await?;
        let records = loaded.records.into_iter();
        let records = records.filter(|record| failures.dropped.binary_search(&record.seq).is_err());
        let loaded = Loaded {
            records: records.collect(),
            ..loaded
        };
        match self.look(row, flow, loaded).await {
            // A run need not store its state.
            Ok(_) | Err(RuntimeError::Unstorable { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Lets an execution continue without its failures.
    async fn reopen(&self, row: &Row, failures: &Failures) -> Result<(), RuntimeError> {
        let id = row.id;
        let is_part = StoredOptions::part_of(row).is_some();
        let status = if is_part || row.concurrency.is_some() {
            Status::Queued
        } else {
            Status::Running
        };
        let now_ms = self.now_ms();
        let retried = Retried {
            dropped: failures.dropped.clone(),
            later_ms: now_ms.saturating_sub(row.updated_ms),
            begun_again: failures.begun_again.clone(),
        };
        let path = self.registry.namespace(row).await;
        let record = Record {
            seq: row.next_seq,
            at_ms: now_ms,
            kind: RecordKind::RunRetried,
            path: path.clone(),
            step: path,
            visit: 0,
            item: None,
            attempt: 0,
            payload: json!(retried).to_string(),
        };
        let reopened = self.store.reopen(id, status, record).await;
        // The store may have written it before it failed, or somebody else has at this moment.
        let is_over = match reopened {
            Ok(row) if !row.status.is_over() => None,
            reopened => Some(reopened),
        };
        if let Some(reopened) = is_over {
            let found = self.store.without_result(id).await;
            if !matches!(found, Ok(Some(now)) if now.next_seq > row.next_seq) {
                let status = reopened.map_err(RuntimeError::of(id))?.status;
                return Err(RuntimeError::Over {
                    execution: id,
                    status,
                });
            }
        }
        self.committed.notify_waiters();
        self.claims.forget_halt(id);
        if status == Status::Queued && !self.queue.slots.are_none() {
            self.queue.queued.set(0, id);
        }
        Ok(())
    }
}
