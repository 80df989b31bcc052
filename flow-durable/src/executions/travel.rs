//! Looks into an execution's past: replays it up to a record, and starts a new execution that
//! continues from a record.
//!
//! The journal contains outcomes, not states. So a look replays the flow up to the record, without
//! running a step, and captures the state there.

use flow_runtime::engine::{ExternalType, StepKey};
use flow_store::refusal::newest_snapshot;
use flow_store::{ExecutionId, PauseRow, PauseState, Record, RecordKind, Row, Status, Token};
use serde_json::json;
use uuid::Uuid;

use super::Executions;
use crate::engine::AtNode;
use crate::entry::{Asked, Copied, Entry, Json, is_end};
use crate::error::RuntimeError;
use crate::execution::Execution;
use crate::retried::{counting, delay};
use crate::shared::{Loaded, check_format, kept_elsewhere};
use crate::steps::missing;

impl Executions {
    /// Copies an execution: starts a new one that has the records of this one up to and including
    /// the given one, and continues from there independently. Questions that were open at that
    /// point are asked again. Waits and timeouts have as much time left as they had: the copied
    /// records have later times. The original execution stays as it is, whatever its status. The
    /// copy counts the attempts of a step anew. Its steps have other ids, because it is another
    /// execution: to let a failed one continue with its own ids, [retry](Executions::retry) it.
    ///
    /// If the history before a snapshot has been pruned, the new execution has its history from
    /// that snapshot on.
    ///
    /// # Errors
    ///
    /// The errors of [`state`](Executions::state), except that the flow need not be registered; or
    /// the store could not be written to. No execution is started then. If the new execution cannot
    /// continue here, this call succeeds, and [`Execution::settled`] says why. Without the flow, it
    /// waits for a process that has the flow and [recovers](crate::Runtime::recover).
    pub async fn copy(&self, id: ExecutionId, seq: u64) -> Result<Execution, RuntimeError> {
        let row = self.copyable(id, seq).await?;
        let mut records = self.history(id, seq).await?;
        records.retain(|record| !is_end(record.kind));
        let copied = Copied {
            execution: id,
            seq,
            values: None,
        };
        self.create_copy(row, records, copied, None).await
    }

    /// Starts an execution with these records of another one. If `begins` is given, it begins with
    /// that state instead of the one that the records lead to.
    pub(super) async fn create_copy(
        &self,
        row: Row,
        mut records: Vec<Record>,
        of: Copied,
        begins: Option<AtNode>,
    ) -> Result<Execution, RuntimeError> {
        self.owned.shared.set_clock().await?;
        let now_ms = self.owned.shared.now_ms();
        let id = row.id;
        let new = ExecutionId::from(self.owned.shared.ids.next(now_ms));
        let flow = self.owned.shared.registry.version_if_known(&row).await?;
        let names = match &flow {
            Some(flow) => self.owned.shared.registry.names(&row, flow).await?,
            None => None,
        };
        let external = |path: &str| flow.as_ref()?.external_under(names.as_deref(), path);
        let pauses = reopened(&row, external, new, &records, now_ms)?;
        let last_ms = records.last().map_or(now_ms, |last| last.at_ms);
        renew(id, &mut records, now_ms.saturating_sub(last_ms))?;
        let path = match records.first() {
            Some(first) => first.path.clone(),
            None => self.owned.shared.registry.namespace(&row).await,
        };
        let mut add = |kind, payload: String| {
            records.push(Record {
                seq: records.len() as u64,
                at_ms: now_ms,
                kind,
                step: path.clone(),
                path: path.clone(),
                visit: 0,
                item: None,
                attempt: 0,
                payload,
            });
        };
        add(RecordKind::RunCopied, json!(of).to_string());
        if let Some(mut begins) = begins {
            // What the original has done is for the original to take back.
            begins.before.undoable.clear();
            add(RecordKind::Snapshot, json!(begins.before).to_string());
        }
        let copy = copied(row, new, &records, now_ms);
        let created = self
            .owned
            .shared
            .store
            .create(copy.clone(), records, pauses, None)
            .await;
        if let Err(error) = created {
            self.created_all_the_same(&copy, error).await?;
        }
        self.owned.shared.committed.notify_waiters();
        if flow.is_some() {
            self.owned.shared.try_to_launch(new).await;
        }
        Ok(Execution::new(self.owned.clone(), copy))
    }

    /// Returns the row of an execution, if it can be copied at a record.
    async fn copyable(&self, id: ExecutionId, seq: u64) -> Result<Row, RuntimeError> {
        let row = self.owned.row(id).await?;
        if self.owned.shared.registry.known_version(&row).is_some() {
            let (row, _) = self.load_until(id, seq).await?;
            return Ok(row);
        }
        check_format(&row)?;
        self.check_record(&row, seq).await?;
        Ok(row)
    }

    /// Checks that the store has a record of an execution.
    pub(super) async fn check_record(&self, row: &Row, seq: u64) -> Result<(), RuntimeError> {
        let id = row.id;
        let no_record = RuntimeError::NoRecord { execution: id, seq };
        if seq >= row.next_seq {
            return Err(no_record);
        }
        let first = self.owned.shared.store.records(id, 0, 1).await;
        let first = first.map_err(RuntimeError::of(id))?;
        match first.first() {
            Some(first) if first.seq <= seq => Ok(()),
            _ => Err(no_record),
        }
    }

    /// The records up to this one that [count](counting), from the first in the store. If they are
    /// pruned while they are read, they are read again.
    pub(super) async fn history(
        &self,
        id: ExecutionId,
        seq: u64,
    ) -> Result<Vec<Record>, RuntimeError> {
        let mut first_before = None;
        loop {
            let records = self.owned.shared.records(id, 0, Some(seq + 1)).await?;
            let Some(first) = records.first().map(|first| first.seq) else {
                return Err(RuntimeError::NoRecord { execution: id, seq });
            };
            if let Some(error) = kept_elsewhere(id, &records) {
                return Err(error);
            }
            let Some(gap) = missing(&records, seq + 1) else {
                return counting(id, records);
            };
            // Nothing has been pruned since the last read.
            if first_before == Some(first) {
                let path = self.owned.row(id).await?.flow;
                return Err(RuntimeError::Unreadable {
                    execution: id,
                    path,
                    reason: format!("record {gap} is missing"),
                });
            }
            first_before = Some(first);
        }
    }

    pub(super) async fn load_until(
        &self,
        id: ExecutionId,
        seq: u64,
    ) -> Result<(Row, Loaded), RuntimeError> {
        let mut row = self.owned.row(id).await?;
        loop {
            self.check_record(&row, seq).await?;
            let flow = self.owned.shared.registry.version(&row).await?;
            let loaded = self.owned.shared.load(&row, &flow, Some(seq + 1)).await;
            let row_before = std::mem::replace(&mut row, self.owned.row(id).await?);
            match loaded {
                Ok(loaded) => return Ok((row_before, loaded)),
                // It was pruned while it was read.
                Err(RuntimeError::Unreadable { .. })
                    if row.snapshot_seq != row_before.snapshot_seq => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// The row of a copy that begins now, with these records.
fn copied(row: Row, new: ExecutionId, records: &[Record], now_ms: u64) -> Row {
    Row {
        id: new,
        idempotency_key: None,
        status: Status::Running,
        created_ms: now_ms,
        updated_ms: now_ms,
        wake_ms: None,
        next_seq: records.len() as u64,
        snapshot_seq: newest_snapshot(records),
        copied_from: Some(row.id),
        result: None,
        fence: 0,
        halted: None,
        take_overs: None,
        cancelled_ms: None,
        ..row
    }
}

/// The questions that were open at the end of these records, for the new execution.
fn reopened(
    row: &Row,
    external: impl Fn(&str) -> Option<ExternalType>,
    new: ExecutionId,
    records: &[Record],
    now_ms: u64,
) -> Result<Vec<PauseRow>, RuntimeError> {
    let mut open: Vec<(&Record, Json<'_, Asked>)> = Vec::new();
    for record in records {
        let step = StepKey::new(&record.step);
        match Entry::read(row.id, record) {
            Entry::Paused(asked) => {
                // It may have been asked before, and its answer refused.
                open.retain(|(asked, _)| asked.step != record.step);
                open.push((record, asked));
            }
            Entry::Resumed(_) => open.retain(|(asked, _)| asked.step != record.step),
            // Questions inside the finished node are no longer asked.
            Entry::NodeFinished(_) => {
                open.retain(|(asked, _)| !StepKey::new(&asked.step).is_within(step))
            }
            Entry::FlowFailed | Entry::TimedOut => {
                open.retain(|(asked, _)| !StepKey::new(&asked.step).is_inside(step));
            }
            _ => {}
        }
    }
    open.into_iter()
        .map(|(record, asked)| {
            let asked = asked.read()?;
            let time = asked
                .expires_ms
                .map(|expires| expires.saturating_sub(record.at_ms));
            Ok(PauseRow {
                token: Token::from(Uuid::new_v4()),
                execution: new,
                path: record.path.clone(),
                step: record.step.clone(),
                prompt: asked.prompt,
                expected: asked.expected,
                schema: external(&record.path)
                    .and_then(|asked| asked.schema())
                    .or(asked.schema)
                    .map(|schema| schema.to_string()),
                created_ms: now_ms,
                expires_ms: time.map(|time| now_ms.saturating_add(time)),
                state: PauseState::Open,
            })
        })
        .collect()
}

/// Numbers records again, and makes them later by this many milliseconds, so that waits, timeouts
/// and the time to answer have as much time left as they had.
fn renew(id: ExecutionId, records: &mut [Record], later_ms: u64) -> Result<(), RuntimeError> {
    for (seq, record) in (0..).zip(records) {
        delay(id, record, later_ms)?;
        record.seq = seq;
    }
    Ok(())
}
