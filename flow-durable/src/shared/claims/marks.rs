//! Halted executions, which all processes see in the store, and executions that lose their process
//! again and again.
//!
//! An execution that kills its process stops all others of that process, and they look alike
//! afterwards. So an execution that was lost several times without a new record runs without others
//! like it, until it has one. If the process is lost again, this execution is the cause.

use flow_store::{ExecutionId, Mark, Row, Status, TakeOvers};

use super::Claims;
use crate::driver::Suspicion;
use crate::error::RuntimeError;

/// The maximum size of a stored reason, in bytes.
const REASON_BYTES: usize = 4096;

/// The error for those who wait for an execution, if its row says that it is halted.
pub(crate) fn halted(row: &Row) -> Option<RuntimeError> {
    row.halt().map(|reason| RuntimeError::Halted {
        execution: row.id,
        reason: reason.to_owned(),
        error: None,
    })
}

/// The number of times that an execution was taken over at its last record, plus one.
fn once_more(row: &Row) -> TakeOvers {
    let before = row.take_overs.filter(|it| it.at_seq == row.next_seq);
    TakeOvers {
        count: before.map_or(0, |it| it.count).saturating_add(1),
        at_seq: row.next_seq,
    }
}

/// A reason as it is stored: only the beginning of a long one.
fn stored(reason: &str) -> String {
    let end = reason.floor_char_boundary(REASON_BYTES);
    match reason.get(..end) {
        Some(beginning) if end < reason.len() => format!("{beginning}…"),
        _ => reason.to_owned(),
    }
}

impl Claims {
    /// Returns true if a lost process left an execution: its claim was not given up.
    pub(crate) async fn is_lost(&self, row: &Row) -> Result<bool, RuntimeError> {
        if row.status != Status::Running {
            return Ok(false);
        }
        let claim = self.store.claim_of(row.id).await;
        Ok(claim.map_err(RuntimeError::of(row.id))?.is_some())
    }

    /// The suspicion with which a lost execution may run. `None` if it has to wait until another
    /// one has shown that it does not kill the process.
    pub(crate) fn suspect(&self, row: &Row) -> Option<Suspicion> {
        let limit = self.take_overs;
        if once_more(row).count < limit.saturating_sub(2).max(1) {
            return Some(Suspicion::default());
        }
        let permit = self.suspects.clone().try_acquire_owned().ok()?;
        Some(Suspicion::lasting(permit, self.lease))
    }

    /// Counts that a claimed execution was taken over from a lost process. If that happened too
    /// often without a new record, halts the execution.
    pub(crate) async fn count_take_over(&self, row: &Row) -> Result<(), RuntimeError> {
        let take_overs = once_more(row);
        let mut mark = Mark {
            take_overs: Some(take_overs),
            ..Mark::default()
        };
        if take_overs.count <= self.take_overs {
            return self.mark(row.id, row.fence, mark).await;
        }
        let reason = format!(
            "its process was lost {} times in a row at this place",
            take_overs.count
        );
        mark.halted = Some(reason.clone());
        self.mark(row.id, row.fence, mark).await?;
        Err(RuntimeError::Halted {
            execution: row.id,
            reason,
            error: None,
        })
    }

    pub(crate) async fn mark(
        &self,
        id: ExecutionId,
        fence: u64,
        mark: Mark,
    ) -> Result<(), RuntimeError> {
        let marked = self.store.mark(id, fence, mark).await;
        marked.map_err(RuntimeError::of(id))
    }

    /// Stores that a claimed execution is halted. Returns the reason it cannot continue here: the
    /// same error, unless the store has failed.
    pub(crate) async fn halt(&self, fence: u64, error: RuntimeError) -> RuntimeError {
        let RuntimeError::Halted {
            execution, reason, ..
        } = &error
        else {
            return error;
        };
        let mark = Mark {
            halted: Some(stored(reason)),
            ..Mark::default()
        };
        match self.mark(*execution, fence, mark).await {
            Ok(()) => error,
            Err(failed) => failed,
        }
    }

    /// Returns true if an execution has lost its process more often than it may.
    pub(crate) fn is_lost_too_often(&self, row: &Row) -> bool {
        let take_overs = row.take_overs;
        take_overs.is_some_and(|it| it.at_seq == row.next_seq && it.count > self.take_overs)
    }
}
