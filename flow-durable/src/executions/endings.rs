//! Ends and removes executions.

use std::time::Duration;

use flow_store::{
    EndIf, ExecutionId, NewSignal, Record, RecordKind, Row, Sent, Status, Store, no_blob_marker,
};
use serde_json::Value;

use super::Executions;
use crate::error::RuntimeError;
use crate::execution::{Execution, OWN_KEY};
use crate::journal::CANCEL;
use crate::listed::{ListOptions, Listed};
use crate::options::StoredOptions;
use crate::registered::hash_of;

impl Executions {
    /// Ends an execution for this reason, which [`Execution::reason`] and its last record contain.
    /// Its running steps are dropped at their next `.await`, or in another process when that
    /// process next writes or renews its lease. Returns the execution as it is then.
    ///
    /// An execution of a flow with undo nodes is undone before it ends:
    /// [`settled`](Execution::settled) waits for the end. Until then its status is
    /// [`Cancelling`](Status::Cancelling), and the first reason holds. One that is still queued has
    /// done nothing and ends at once. If it is [halted](Execution::halted), also in the middle of
    /// undoing, it continues in order to be undone. If it cannot continue, call
    /// [`end_without_undoing`](Executions::end_without_undoing).
    ///
    /// # Errors
    ///
    /// [`RuntimeError::Over`], [`RuntimeError::NotFound`], [`RuntimeError::NotRegistered`] if it is
    /// halted, has to be undone, and its flow is not registered here; [`RuntimeError::Unreadable`] if
    /// the structure of its flow, which says if there is anything to undo, cannot be read; or the
    /// store failed.
    pub async fn cancel(&self, id: ExecutionId, reason: &str) -> Result<Execution, RuntimeError> {
        let row = self.owned.row(id).await?;
        self.cancel_row(row, reason, EndIf::NotOver).await
    }

    /// Ends an execution like [`cancel`](Executions::cancel), and undoes nothing. Use it for an
    /// execution that cannot continue, because its flow is gone or an undo node cannot succeed.
    /// [`Execution::undoable`] returns the steps that stay as they are.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::Over`], [`RuntimeError::NotFound`], or the store failed.
    pub async fn end_without_undoing(
        &self,
        id: ExecutionId,
        reason: &str,
    ) -> Result<Execution, RuntimeError> {
        let row = self.owned.row(id).await?;
        self.end(row, reason, EndIf::NotOver).await
    }

    async fn cancel_row(
        &self,
        row: Row,
        reason: &str,
        condition: EndIf,
    ) -> Result<Execution, RuntimeError> {
        // Items of a loop have no undo nodes.
        let is_part = StoredOptions::part_of(&row).is_some();
        let has_undo = !row.status.is_over() && !is_part;
        if !(has_undo && self.owned.shared.registry.undoes(&row).await?) {
            return self.end(row, reason, condition).await;
        }
        if row.status == Status::Queued {
            match self.end(row.clone(), reason, EndIf::Queued).await {
                // It has begun at this moment.
                Err(RuntimeError::Over { status, .. }) if !status.is_over() => {}
                ended => return ended,
            }
        }
        self.undo_and_end(row, reason).await
    }

    /// Tells whoever runs an execution to undo it and to end it as cancelled.
    async fn undo_and_end(&self, row: Row, reason: &str) -> Result<Execution, RuntimeError> {
        let (id, shared) = (row.id, &self.owned.shared);
        if row.halt().is_some() && shared.registry.known_version(&row).is_none() {
            // Nobody would continue it.
            return Err(RuntimeError::NotRegistered { flow: row.flow });
        }
        shared.set_clock().await?;
        let payload = Value::from(&*no_blob_marker(reason)).to_string();
        let signal = NewSignal {
            name: CANCEL.to_owned(),
            digest: hash_of(&payload),
            payload,
            // It is cancelled once: the first reason holds.
            key: Some(format!("{OWN_KEY}cancel")),
            now_ms: shared.now_ms(),
        };
        let sent = shared.store.signal(id, signal).await;
        if let Sent::Over(status) = sent.map_err(RuntimeError::of(id))? {
            return Err(RuntimeError::Over {
                execution: id,
                status,
            });
        }
        let row = self.owned.row(id).await?;
        if row.halt().is_some() && shared.registry.known_version(&row).is_some() {
            shared.continues(&row, None).await?;
        }
        // If this process does not have the flow, another one undoes it.
        if shared.registry.known_version(&row).is_some() {
            shared.wake(id).await;
        }
        let row = self.owned.row(id).await?;
        Ok(Execution::new(self.owned.clone(), row))
    }

    pub(crate) async fn end(
        &self,
        row: Row,
        reason: &str,
        condition: EndIf,
    ) -> Result<Execution, RuntimeError> {
        let id = row.id;
        if row.status.is_over() {
            return Err(RuntimeError::Over {
                execution: id,
                status: row.status,
            });
        }
        let path = self.owned.shared.registry.namespace(&row).await;
        self.owned.shared.set_clock().await?;
        let at_ms = self.owned.shared.now_ms();
        let reason = no_blob_marker(reason);
        let reason = &*reason;
        let record = Record {
            seq: 0,
            at_ms,
            kind: RecordKind::RunCancelled,
            path: path.clone(),
            step: path,
            visit: 0,
            item: None,
            attempt: 0,
            payload: reason.to_owned(),
        };
        let store = &self.owned.shared.store;
        let ended = store.end(id, Status::Cancelled, reason, record, condition);
        let row = match ended.await {
            Ok(row) => row,
            // The store may have ended it before it failed.
            Err(error) => match store.execution(id).await {
                Ok(Some(row)) if row.status == Status::Cancelled && row.updated_ms == at_ms => row,
                _ => return Err(RuntimeError::of(id)(error)),
            },
        };
        // Somebody else may have cancelled it at this moment, for another reason.
        if row.status != Status::Cancelled || row.updated_ms != at_ms {
            return Err(RuntimeError::Over {
                execution: id,
                status: row.status,
            });
        }
        self.owned.shared.committed.notify_waiters();
        self.owned.shared.claims.drop_run(id);
        self.owned.shared.over(&row).await;
        Ok(Execution::new(self.owned.clone(), row))
    }

    /// Cancels the paused executions whose journal has not grown for this long, and returns
    /// them. Executions that cannot be read are in [`Listed::damaged`], and stay as they are. (A
    /// question with a `timeout` does not need this: its flow continues when the time is over.) Those of
    /// flows with undo nodes are undone first, as with [`cancel`](Executions::cancel).
    ///
    /// # Errors
    ///
    /// The store failed. Executions that were already cancelled stay cancelled.
    pub async fn expire(&self, untouched_for: Duration) -> Result<Listed, RuntimeError> {
        let options = ListOptions::new()
            .status(Status::Paused)
            .untouched_for(untouched_for);
        let query = self.query(options);
        let untouched = EndIf::PausedUntouchedSince(query.updated_before_ms.unwrap_or(0));
        let mut expired = Listed::default();
        for row in self.owned.shared.store.list(&query).await? {
            let ended = match row {
                // It waits for parts of a loop, and for nobody's answer.
                Ok(row) if self.owned.shared.questions_of(row.id).await?.is_empty() => continue,
                Ok(row) => {
                    let reason = "expired: nobody answered in time";
                    // Only the end of an execution has a condition in the store.
                    let now = self.owned.row(row.id).await?;
                    if (now.next_seq, now.status) != (row.next_seq, Status::Paused) {
                        continue;
                    }
                    self.cancel_row(row, reason, untouched).await
                }
                Err(damaged) => Err(damaged.into()),
            };
            match ended {
                Ok(execution) => expired.executions.push(execution),
                // It was answered or ended at this moment.
                Err(RuntimeError::Over { .. } | RuntimeError::NotFound(_)) => {}
                Err(error) => expired.damaged.push(error.damaged().ok_or(error)?),
            }
        }
        Ok(expired)
    }

    /// Removes an execution with its journal and the parts of its loops. A running execution is
    /// cancelled. Nothing is undone: cancel it before, and wait until it is over.
    ///
    /// A store may keep large values elsewhere (`BlobStore`), and fail to remove them although the
    /// execution is gone. Another call removes them, and returns [`RuntimeError::NotFound`] because
    /// the execution no longer exists.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::NotFound`]; [`RuntimeError::IsPart`] if it is a part of a loop of an
    /// execution that is not over; or the store failed. It may still have been removed.
    pub async fn delete(&self, id: ExecutionId) -> Result<(), RuntimeError> {
        let shared = &self.owned.shared;
        let may_have_parts = match self.owned.there(id).await? {
            Some(row) => {
                shared.may_be_deleted(&row).await?;
                let may_have_parts = shared.may_have_parts(&row).await?;
                if may_have_parts && !row.status.is_over() {
                    // A cancelled execution creates no more parts.
                    self.cancel_before_deletion(row).await?;
                }
                may_have_parts
            }
            None => true,
        };
        let parts = if may_have_parts {
            shared.parts_of_id(id).await?
        } else {
            Vec::new()
        };
        for part in parts {
            shared.claims.drop_run(part);
            let deleted = shared.store.delete(part).await;
            deleted.map_err(RuntimeError::of(part))?;
        }
        // Even if it does not exist, something of it may have been left behind. Nobody else can
        // have it, because each execution starts with a new id.
        let deleted = shared.store.delete(id).await;
        if deleted.is_ok() || matches!(self.owned.is_there(id).await, Ok(false)) {
            shared.claims.drop_run(id);
            shared.claims.forget_halt(id);
        }
        if !deleted.map_err(RuntimeError::of(id))? {
            return Err(RuntimeError::NotFound(id));
        }
        Ok(())
    }

    async fn cancel_before_deletion(&self, row: Row) -> Result<(), RuntimeError> {
        match self.end(row, "it was deleted", EndIf::NotOver).await {
            Ok(_) | Err(RuntimeError::Over { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }
}
