//! The executions of one owner, as rows.

use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use flow_store::{
    Claim, ExecutionId, PauseRow, PauseState, Record, Row, Status, Store as _, Token,
};
use tokio::time::Instant;

use crate::error::RuntimeError;
use crate::owners::Owners;
use crate::shared::{Shared, records_since_snapshot};
use crate::steps::missing;
use crate::undoable::{UndoableStep, undoable_after};

/// The interval of checks on an execution that another process runs.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// The interval of checks on the parts of its loops, which may be many, and on an execution that
/// waits for a time.
const LOOK_SELDOM: Duration = Duration::from_secs(1);

/// The number of checks without a pause within [`LOOK_SELDOM`].
const LOOKS_AT_ONCE: u32 = 10;

/// Counts the checks on an execution, so that a process that writes much does not read as much.
struct Looks {
    since: Instant,
    count: u32,
}

impl Looks {
    fn new() -> Looks {
        Looks {
            since: Instant::now(),
            count: 0,
        }
    }

    /// Waits before the next check, if there were many recently.
    async fn pause(&mut self) {
        if self.since.elapsed() >= LOOK_SELDOM {
            *self = Looks::new();
        }
        self.count += 1;
        if self.count > LOOKS_AT_ONCE {
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }
}

/// The executions of some owners, in the shared state of a runtime. Executions of other owners
/// appear not to exist.
#[derive(Clone)]
pub(crate) struct Owned {
    pub(crate) shared: Arc<Shared>,
    owners: Owners,
}

impl fmt::Debug for Owned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Owned")
            .field("store", &self.shared.store)
            .field("owners", &self.owners)
            .finish_non_exhaustive()
    }
}

impl Owned {
    pub(crate) fn new(shared: Arc<Shared>, owners: Owners) -> Self {
        Owned { shared, owners }
    }

    /// The owners whose executions it sees.
    pub(crate) fn owners(&self) -> &Owners {
        &self.owners
    }

    /// The owner of the executions that start here.
    pub(crate) fn owner(&self) -> Option<&str> {
        match &self.owners {
            Owners::One(owner) => owner.as_deref(),
            Owners::All => None,
        }
    }

    pub(crate) async fn row(&self, id: ExecutionId) -> Result<Row, RuntimeError> {
        let row = self
            .shared
            .store
            .execution(id)
            .await
            .map_err(RuntimeError::of(id))?;
        self.own(row.ok_or(RuntimeError::NotFound(id))?)
    }

    /// Returns true if the store has this execution, even if its result is lost. An execution of
    /// another owner is the error [`RuntimeError::NotFound`].
    pub(crate) async fn is_there(&self, id: ExecutionId) -> Result<bool, RuntimeError> {
        Ok(self.there(id).await?.is_some())
    }

    /// The row of an execution without its result. `None` if it does not exist. An execution of
    /// another owner is the error [`RuntimeError::NotFound`].
    pub(crate) async fn there(&self, id: ExecutionId) -> Result<Option<Row>, RuntimeError> {
        let row = self.shared.store.without_result(id).await;
        let row = row.map_err(RuntimeError::of(id))?;
        row.map(|row| self.own(row)).transpose()
    }

    pub(crate) fn own(&self, row: Row) -> Result<Row, RuntimeError> {
        if self.owners.include(row.owner.as_deref()) {
            Ok(row)
        } else {
            // As if there were none: the caller must not learn that it exists.
            Err(RuntimeError::NotFound(row.id))
        }
    }

    pub(crate) async fn settled(&self, id: ExecutionId) -> Result<Row, RuntimeError> {
        let mut looked: Option<Instant> = None;
        let mut claimed = None;
        let mut left = None;
        let mut looks = Looks::new();
        loop {
            let mut waits_for_time = false;
            let mut committed = pin!(self.shared.committed.notified());
            committed.as_mut().enable();
            if let Some(run) = self.shared.claims.running(id) {
                let mut done = run.done.subscribe();
                // The task that has to end the run may be gone, so this also checks the store.
                let ended = done.wait_for(|done| *done);
                let _ = tokio::time::timeout(self.shared.options.lease, ended).await;
                drop(done);
                self.shared.keep_renewing();
                if let Some(row) = run.over.get() {
                    return self.own(row.clone());
                }
            }
            let row = self.row(id).await?;
            let halted = self.shared.claims.halt_of(id);
            // An execution that was taken over continues in the other process.
            let halted = halted.filter(|error| match error {
                RuntimeError::TakenOver(_) => false,
                // Somebody else may have continued it.
                RuntimeError::Halted { .. } => row.halt().is_some(),
                _ => true,
            });
            let halted = halted.or_else(|| crate::shared::halted(&row));
            let questions = match row.status {
                Status::Paused => self.shared.questions_of(id).await?,
                _ => Vec::new(),
            };
            let is_answered = questions
                .iter()
                .any(|pause| pause.state != PauseState::Open);
            let is_claimed =
                is_answered && halted.is_none() && self.is_being_claimed(id, &mut claimed).await?;
            // The row, its questions and its claim were read one after the other.
            if row.status == Status::Paused && self.has_changed(&row).await? {
                continue;
            }
            if let Some(error) = self.is_left(&row, &mut left).await? {
                return Err(error);
            }
            match (row.status, halted) {
                (Status::Queued | Status::Running, None) => {}
                (Status::Queued | Status::Running, Some(error)) => return Err(error),
                // It was answered, but cannot continue with the answer.
                (Status::Paused, Some(error)) if is_answered => return Err(error),
                // It was answered, and waits for a place, or another process has just claimed it.
                (Status::Paused, None)
                    if is_answered && (self.shared.queue.slots.is_limited() || is_claimed) => {}
                // It waits for parts of a loop, for a time, or for a signal. One that is cancelled
                // waits for nobody.
                (Status::Paused, halted) if questions.is_empty() || row.is_cancelling() => {
                    if let Some(error) = halted {
                        return Err(error);
                    }
                    if let Some(error) = self.shared.stuck_part_of(&row).await? {
                        return Err(error);
                    }
                    if row.wake_ms.is_none() && !row.is_cancelling() {
                        // Only a signal continues it. If it waited for parts, it would look again.
                        return Ok(row);
                    }
                    waits_for_time = !self.shared.may_have_parts(&row).await?;
                    if looked.is_none_or(|looked| looked.elapsed() >= LOOK_SELDOM) {
                        looked = Some(Instant::now());
                        if let Some(error) = self.shared.halted_part_of(&row).await? {
                            return Err(error);
                        }
                        if !row.is_cancelling() && self.shared.parts_ask(&row).await? {
                            return Ok(row);
                        }
                    }
                }
                _ => return Ok(row),
            }
            if self.shared.claims.is_running(id) {
                continue;
            }
            if waits_for_time {
                // This process may have written to this execution.
                let _ = tokio::time::timeout(LOOK_SELDOM, committed).await;
                looks.pause().await;
            } else {
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        }
    }

    /// The error for those who wait until an execution is undone, if this process does not have its
    /// flow and no other one takes it. Notes since when nobody has taken it.
    async fn is_left(
        &self,
        row: &Row,
        since: &mut Option<Instant>,
    ) -> Result<Option<RuntimeError>, RuntimeError> {
        let is_known = || self.shared.registry.known_version(row).is_some();
        if !row.is_cancelling() || is_known() {
            return Ok(None);
        }
        self.shared.set_clock().await?;
        let now_ms = self.shared.now_ms();
        let is_due = row.status == Status::Running || row.wake_ms.is_some_and(|at| at <= now_ms);
        let claim = self.shared.store.claim_of(row.id).await;
        let claim = claim.map_err(RuntimeError::of(row.id))?;
        if !is_due || claim.is_some_and(|claim| claim.is_valid(now_ms)) {
            *since = None;
            return Ok(None);
        }
        let options = &self.shared.options;
        let enough = 2 * (options.lease + options.look_for_work_every());
        let is_left = since.get_or_insert_with(Instant::now).elapsed() >= enough;
        Ok(is_left.then(|| RuntimeError::NotRegistered {
            flow: row.flow.clone(),
        }))
    }

    /// Returns true if an execution was written to or claimed since its row was read.
    async fn has_changed(&self, row: &Row) -> Result<bool, RuntimeError> {
        let state = |row: &Row| (row.status, row.next_seq, row.fence);
        let now = self.there(row.id).await?;
        Ok(now.is_none_or(|now| state(&now) != state(row)))
    }

    /// Returns true if a process has claimed a paused execution, and may not have written yet that
    /// it runs. Clocks differ, so this notes when it has first seen the claim.
    async fn is_being_claimed(
        &self,
        id: ExecutionId,
        seen: &mut Option<(Claim, Instant)>,
    ) -> Result<bool, RuntimeError> {
        self.shared.set_clock().await?;
        let claim = self.shared.store.claim_of(id).await;
        let Some(claim) = claim.map_err(RuntimeError::of(id))? else {
            return Ok(false);
        };
        let before = seen.filter(|(before, _)| *before == claim);
        let (_, since) = *seen.insert(before.unwrap_or((claim, Instant::now())));
        let length = Duration::from_millis(claim.lease_ms);
        Ok(claim.is_valid(self.shared.now_ms()) && since.elapsed() < length)
    }

    /// The open questions of an execution and of the parts of its loops, each with its execution.
    pub(crate) async fn questions(
        &self,
        id: ExecutionId,
    ) -> Result<Vec<(PauseRow, Row)>, RuntimeError> {
        let row = self.row(id).await?;
        let mut parts = match row.status {
            Status::Paused | Status::Running => self.shared.rows_of_parts(&row).await?,
            _ => Vec::new(),
        };
        parts.sort_by_key(|part| part.id);
        let paused = parts.iter().filter(|part| part.status == Status::Paused);
        let mut questions = Vec::new();
        for row in std::iter::once(&row).chain(paused) {
            let pauses = self.shared.store.pauses(row.id).await;
            let pauses = pauses.map_err(RuntimeError::of(row.id))?.into_iter();
            let open = pauses.filter(|pause| pause.state == PauseState::Open);
            questions.extend(open.map(|pause| (pause, row.clone())));
        }
        Ok(questions)
    }

    /// A question and its execution, even if the question is closed.
    pub(crate) async fn question(&self, token: Token) -> Result<(PauseRow, Row), RuntimeError> {
        self.shared.set_clock().await?;
        let pause = self.shared.store.pause(token).await?;
        let pause = pause.ok_or(RuntimeError::UnknownToken)?;
        match self.row(pause.execution).await {
            Ok(row) => Ok((pause, row)),
            // As if there were none: the caller must not learn that it exists.
            Err(RuntimeError::NotFound(_)) => Err(RuntimeError::UnknownToken),
            Err(error) => Err(error),
        }
    }

    pub(crate) async fn page(
        &self,
        id: ExecutionId,
        from: u64,
        limit: usize,
    ) -> Result<Vec<Record>, RuntimeError> {
        self.row(id).await?;
        let records = self.shared.store.records(id, from, limit).await;
        records.map_err(RuntimeError::of(id))
    }

    /// The steps of an execution that could be undone now.
    pub(crate) async fn undoable(&self, row: &Row) -> Result<Vec<UndoableStep>, RuntimeError> {
        let store = &*self.shared.store;
        let records = records_since_snapshot(store, row.id, row.next_seq).await;
        let records = records.map_err(RuntimeError::of(row.id))?;
        undoable_after(row.id, None, &records)
    }

    pub(crate) async fn structure(&self, row: &Row) -> Result<Option<String>, RuntimeError> {
        let structure = self.shared.store.structure(&row.structure).await;
        structure.map_err(RuntimeError::of(row.id))
    }

    pub(crate) async fn journal(&self, id: ExecutionId) -> Result<Vec<Record>, RuntimeError> {
        let row = self.row(id).await?;
        let records = self.shared.records(id, 0, None).await?;
        match missing(&records, row.next_seq) {
            None => Ok(records),
            Some(seq) => Err(RuntimeError::Unreadable {
                execution: id,
                path: row.flow,
                reason: format!("record {seq} is missing"),
            }),
        }
    }
}
