//! Creates parts of loops, reads their results, and notifies the execution with the loop.

use std::sync::Arc;
use std::time::Duration;

use flow_runtime::{BoxFuture, FlowError, NodeError};
use flow_store::{
    Append, EndIf, ExecutionId, JOURNAL_FORMAT, ListQuery, PauseState, Record, RecordKind, Row,
    Status, Store, is_blob_marker,
};
use serde_json::{Map, Value};

use super::Shared;
use super::load::{input_in, kept_elsewhere, options_of, records_since_snapshot};
use crate::engine::{NewPart, PartResult, Parts, results_of};
use crate::entry::Payload;
use crate::error::RuntimeError;
use crate::options::StoredOptions;
use crate::parts::{Part, flow_of_parts, is_named_as_part_of};
use crate::payload::WITHOUT_BLOBS;
use crate::registered::hash_of;

/// The reason for which a part ends whose execution is over.
pub(super) const UNWANTED: &str = "the execution that had this part is over";

impl Parts for Shared {
    fn result<'a>(
        &'a self,
        part: &'a Part,
        path: &'a str,
    ) -> BoxFuture<'a, Result<PartResult, RuntimeError>> {
        Box::pin(self.part_result(part, path))
    }

    fn create(
        self: Arc<Self>,
        parent: &Row,
        new: NewPart,
    ) -> BoxFuture<'_, Result<(), RuntimeError>> {
        Box::pin(async move { self.create_part(parent, new).await })
    }

    fn end<'a>(
        &'a self,
        part: ExecutionId,
        reason: &'a str,
    ) -> BoxFuture<'a, Result<(), RuntimeError>> {
        Box::pin(self.end_part(part, reason))
    }

    fn look_after(&self) -> Duration {
        self.options.lease
    }
}

impl Shared {
    /// Stores a part in the queue, unless it is already stored.
    async fn create_part(self: &Arc<Self>, parent: &Row, new: NewPart) -> Result<(), RuntimeError> {
        let NewPart { part, each, begins } = new;
        let (id, now_ms) = (part.id(), self.now_ms());
        let json = |value: Result<String, serde_json::Error>| {
            value.map_err(|error| RuntimeError::Unstorable {
                execution: Some(parent.id),
                path: part.division.step(&part.step, part.number),
                reason: error.to_string(),
            })
        };
        let mut records = Vec::new();
        let mut add = |kind, step: &str, path: &str, payload| {
            records.push(Record {
                seq: records.len() as u64,
                at_ms: now_ms,
                kind,
                path: path.to_owned(),
                step: step.to_owned(),
                visit: 0,
                item: None,
                attempt: 0,
                payload,
            });
        };
        let options = options_of(parent, &begins.namespace)?;
        let options = options.with_part(part.clone()).to_json();
        let namespace = begins.namespace.clone();
        let path = format!("{namespace}.{each}");
        let snapshot = json(serde_json::to_string(&begins))?;
        let input_hash = hash_of(&snapshot);
        add(RecordKind::Snapshot, &namespace, &namespace, snapshot);
        let payload = json(serde_json::to_string(&part))?;
        add(RecordKind::PartStarted, &part.step, &path, payload);
        let row = Row {
            id,
            flow: flow_of_parts(&parent.flow, &each),
            structure: parent.structure.clone(),
            owner: parent.owner.clone(),
            idempotency_key: None,
            input_hash,
            status: Status::Queued,
            format: JOURNAL_FORMAT,
            options,
            created_ms: now_ms,
            updated_ms: now_ms,
            wake_ms: None,
            next_seq: records.len() as u64,
            snapshot_seq: Some(0),
            copied_from: Some(parent.id),
            result: None,
            fence: 0,
            priority: parent.priority,
            not_before_ms: None,
            concurrency: None,
            halted: None,
            take_overs: None,
            cancelled_ms: None,
        };
        let of = parent.id;
        let created = self.store.create_part(of, parent.fence, row, records);
        let created = created.await;
        // It may have been stored before.
        if let Err(error) = created
            && !matches!(self.store.without_result(id).await, Ok(Some(_)))
        {
            return Err(RuntimeError::of(of)(error));
        }
        self.committed.notify_waiters();
        if !self.queue.slots.are_none() {
            self.queue.queued.set(0, id);
            self.keep_taking();
        }
        Ok(())
    }

    /// The input of an execution. Empty if the execution no longer exists.
    pub(crate) async fn input_of(
        &self,
        id: ExecutionId,
    ) -> Result<Map<String, Value>, RuntimeError> {
        let of = RuntimeError::of(id);
        let row = self.store.without_result(id).await.map_err(&of)?;
        let Some(row) = row else {
            return Ok(Map::new());
        };
        let seq = row.snapshot_seq.unwrap_or(0);
        let records = self.store.records(id, seq, 1).await.map_err(&of)?;
        if let Some(error) = kept_elsewhere(id, &records) {
            return Err(error);
        }
        let Some(record) = records.into_iter().next() else {
            return Ok(Map::new());
        };
        input_in(id, &record)
    }

    async fn part_result(&self, part: &Part, path: &str) -> Result<PartResult, RuntimeError> {
        let (id, of) = (part.id(), part.of);
        let row = self.store.execution(id).await;
        let Some(row) = row.map_err(RuntimeError::of(id))? else {
            return Ok(PartResult::Missing);
        };
        if StoredOptions::part_of(&row).as_ref() != Some(part) {
            return Err(RuntimeError::Unreadable {
                execution: of,
                path: path.to_owned(),
                reason: format!("execution {id} has the id of one of its parts, and is another"),
            });
        }
        let text = row.result.unwrap_or_default();
        let unreadable = |reason: String| RuntimeError::Unreadable {
            execution: of,
            path: path.to_owned(),
            reason: format!("the result of its part {id} {reason}"),
        };
        Ok(match row.status {
            Status::Completed if is_blob_marker(&text) => {
                return Err(unreadable(WITHOUT_BLOBS.to_owned()));
            }
            Status::Completed => {
                let result: Map<String, Value> = serde_json::from_str(&text)
                    .map_err(|error| unreadable(format!("is damaged: {error}")))?;
                let items = part.division.range(part.number).len();
                let results = results_of(result, |results| match results {
                    Some(Value::Array(all)) if all.len() == items => Ok(Value::Array(all)),
                    None => Ok(Value::Null),
                    Some(_) => Err(unreadable(format!("is no list of {items} results"))),
                });
                PartResult::Results(results?)
            }
            Status::Failed => match self.failure_of_part(part, row.next_seq).await? {
                Some((text, error)) => PartResult::Failed { text, error },
                None => PartResult::Ended(self.ended_part(part, path, &text)),
            },
            // It is needed again, since the execution was retried.
            Status::Cancelled if text == UNWANTED => {
                let row = Row {
                    result: None,
                    ..row
                };
                self.retry_part(&row).await?;
                PartResult::UnderWay
            }
            Status::Cancelled => {
                let reason = format!("it was cancelled: {text}");
                PartResult::Ended(self.ended_part(part, path, &reason))
            }
            Status::Queued | Status::Running | Status::Paused | Status::Cancelling => {
                PartResult::UnderWay
            }
        })
    }

    fn ended_part(&self, part: &Part, path: &str, reason: &str) -> FlowError {
        FlowError::Part {
            path: part.division.step(path, part.number),
            reason: format!("of the execution {} that ran them, {reason}", part.id()),
        }
    }

    /// The error of the node that made the loop of a part fail, as JSON and decoded. `None` if no
    /// node did.
    async fn failure_of_part(
        &self,
        part: &Part,
        next_seq: u64,
    ) -> Result<Option<(String, NodeError)>, RuntimeError> {
        let id = part.id();
        let records = records_since_snapshot(&*self.store, id, next_seq).await;
        let records = records.map_err(RuntimeError::of(id))?;
        let mut newest_first = records.into_iter().rev();
        let gave_up = newest_first
            .find(|record| record.kind == RecordKind::GaveUp && record.step == part.step);
        let Some(record) = gave_up else {
            return Ok(None);
        };
        let error = Payload::of(id, &record).error()?;
        Ok(Some((record.payload, error)))
    }

    /// Ends an execution if it is not over, such as a part whose loop has failed.
    pub(crate) async fn end_part(&self, id: ExecutionId, reason: &str) -> Result<(), RuntimeError> {
        let row = self.store.without_result(id).await;
        let Some(row) = row.map_err(RuntimeError::of(id))? else {
            return Ok(());
        };
        if row.status.is_over() {
            return Ok(());
        }
        let path = self.registry.namespace(&row).await;
        let record = Record {
            seq: 0,
            at_ms: self.now_ms(),
            kind: RecordKind::RunCancelled,
            path: path.clone(),
            step: path,
            visit: 0,
            item: None,
            attempt: 0,
            payload: reason.to_owned(),
        };
        let ended = self
            .store
            .end(id, Status::Cancelled, reason, record, EndIf::NotOver)
            .await;
        ended.map_err(RuntimeError::of(id))?;
        self.committed.notify_waiters();
        self.claims.drop_run(id);
        Ok(())
    }

    /// Handles the end of an execution. If it was a part, and the execution with the loop can
    /// continue, resumes that one.
    pub(crate) async fn over(self: &Arc<Self>, row: &Row) {
        let Some(part) = StoredOptions::part_of(row) else {
            if row.status != Status::Completed {
                self.end_parts_of(row).await;
            }
            return;
        };
        if row.status == Status::Completed && !self.siblings_are_over(&part).await {
            return;
        }
        self.part_is_over(part.of).await;
    }

    /// Ends the parts of an execution that is over and does not need them. If that fails, they
    /// notice it when they check that they are wanted.
    async fn end_parts_of(&self, row: &Row) {
        for id in self.parts_of(row).await.unwrap_or_default() {
            let _ = self.end_part(id, UNWANTED).await;
        }
    }

    /// Returns true if all other parts of the loop are over. Checks them from the next one on, up
    /// to the first that is not: the process that ends that one checks as well.
    async fn siblings_are_over(&self, part: &Part) -> bool {
        let parts = part.division.parts();
        for step in 1..parts {
            let number = (u64::from(part.number) + u64::from(step)) % u64::from(parts);
            let id = part.sibling(number as u32).id();
            match self.store.without_result(id).await {
                Ok(Some(row)) if !row.status.is_over() => return false,
                Ok(_) => {}
                // The execution with the loop checks for itself after a while.
                Err(_) => return false,
            }
        }
        true
    }

    /// Resumes an execution that waits for parts, here or in another process. If that is not
    /// possible now, the execution continues by itself after a while.
    async fn part_is_over(self: &Arc<Self>, of: ExecutionId) {
        if let Some(run) = self.claims.running(of) {
            run.signals.parts.notify_one();
        }
        if matches!(self.launch(of).await, Ok(true)) {
            return;
        }
        let (_call, term) = (self.claims.begin(), self.claims.term());
        let waits = |row: &Row| row.status == Status::Paused;
        let row = self.store.without_result(of).await;
        if !row.is_ok_and(|row| row.as_ref().is_some_and(waits)) {
            return;
        }
        // A process that has claimed it checks its parts before it gives up the claim.
        let Ok(Some(row)) = self.claims.claim(of, term).await else {
            return;
        };
        let due = Append {
            status: Some(Status::Paused),
            timer_ms: Some(self.now_ms()),
            release: true,
            now_ms: self.now_ms(),
            ..Append::default()
        };
        // If it fails, the claim runs out.
        let _ = self.store.append(of, row.fence, due).await;
        self.queue.paused.set(self.now_ms(), of);
        self.keep_waking();
    }

    /// Returns true if an execution that has just been paused can continue, because its parts are
    /// over: all of them, or one that failed.
    pub(crate) async fn parts_are_over(&self, parts: &[ExecutionId]) -> Result<bool, RuntimeError> {
        let mut all_over = true;
        for id in parts {
            let row = self.store.without_result(*id).await;
            match row.map_err(RuntimeError::of(*id))?.map(|row| row.status) {
                Some(Status::Completed) => {}
                None | Some(Status::Failed | Status::Cancelled) => return Ok(true),
                Some(Status::Queued | Status::Running | Status::Paused | Status::Cancelling) => {
                    all_over = false;
                }
            }
        }
        Ok(all_over && !parts.is_empty())
    }

    /// Refuses to delete a part that an execution waits for.
    pub(crate) async fn may_be_deleted(&self, row: &Row) -> Result<(), RuntimeError> {
        match StoredOptions::part_of(row) {
            Some(part) if self.is_wanted(&part).await? => Err(RuntimeError::IsPart {
                execution: row.id,
                of: part.of,
            }),
            _ => Ok(()),
        }
    }

    /// The executions that are parts of an execution's loops.
    pub(crate) async fn parts_of(&self, row: &Row) -> Result<Vec<ExecutionId>, RuntimeError> {
        if self.may_have_parts(row).await? {
            return self.parts_of_id(row.id).await;
        }
        Ok(Vec::new())
    }

    /// Returns true if the flow of an execution has loops that can have parts. Most flows do not.
    pub(crate) async fn may_have_parts(&self, row: &Row) -> Result<bool, RuntimeError> {
        if let Some(version) = self.registry.version_with(&row.flow, &row.structure) {
            return Ok(!version.spread_loops().is_empty());
        }
        let structure = self.store.structure(&row.structure).await;
        let structure = structure.map_err(RuntimeError::of(row.id))?;
        Ok(structure.is_none_or(|structure| structure.contains("\"spread\"")))
    }

    /// The executions that are parts of the loops of this one, whatever its flow.
    pub(crate) async fn parts_of_id(
        &self,
        of: ExecutionId,
    ) -> Result<Vec<ExecutionId>, RuntimeError> {
        let query = ListQuery {
            copied_from: Some(of),
            ..ListQuery::default()
        };
        let listed = self.store.list(&query).await;
        let listed = listed.map_err(RuntimeError::of(of))?;
        let parts = listed.into_iter().filter_map(|other| match other {
            Ok(other) => StoredOptions::part_of(&other)
                .filter(|part| part.of == of)
                .map(|_| other.id),
            // A part whose row cannot be read, such as one whose result is lost.
            Err(damaged) => damaged.execution.filter(|id| is_named_as_part_of(*id, of)),
        });
        Ok(parts.collect())
    }

    /// The rows of the parts of an execution's loops, without those that cannot be read.
    pub(crate) async fn rows_of_parts(&self, row: &Row) -> Result<Vec<Row>, RuntimeError> {
        if !self.may_have_parts(row).await? {
            return Ok(Vec::new());
        }
        let query = ListQuery {
            copied_from: Some(row.id),
            ..ListQuery::default()
        };
        let listed = self.store.list(&query).await;
        let listed = listed.map_err(RuntimeError::of(row.id))?;
        let is_part =
            |other: &Row| StoredOptions::part_of(other).is_some_and(|part| part.of == row.id);
        Ok(listed.into_iter().flatten().filter(is_part).collect())
    }

    /// Returns true if an execution that waits for parts waits for people: some parts ask, and none
    /// can continue or will by itself.
    pub(crate) async fn parts_ask(&self, row: &Row) -> Result<bool, RuntimeError> {
        let parts = self.rows_of_parts(row).await?;
        let moves = |part: &Row| matches!(part.status, Status::Queued | Status::Running);
        if parts.iter().any(moves) {
            return Ok(false);
        }
        let mut some_ask = false;
        for part in parts.iter().filter(|part| part.status == Status::Paused) {
            let mut asks = false;
            for pause in self.questions_of(part.id).await? {
                match pause.state {
                    PauseState::Open => asks = true,
                    PauseState::Answered(_) | PauseState::TimedOut => return Ok(false),
                    PauseState::Used | PauseState::Expired | PauseState::Withdrawn => {}
                }
            }
            if !asks {
                // It waits for a time.
                return Ok(false);
            }
            some_ask = true;
        }
        Ok(some_ask)
    }

    /// The error of a part that is halted and for which an execution waits, if there is one.
    pub(crate) async fn halted_part_of(
        &self,
        row: &Row,
    ) -> Result<Option<RuntimeError>, RuntimeError> {
        if !self.may_have_parts(row).await? {
            return Ok(None);
        }
        let query = ListQuery {
            copied_from: Some(row.id),
            halted: Some(true),
            ..ListQuery::default()
        };
        let listed = self.store.list(&query).await;
        let listed = listed.map_err(RuntimeError::of(row.id))?;
        let mut parts = listed.into_iter().flatten();
        let part =
            parts.find(|other| StoredOptions::part_of(other).is_some_and(|part| part.of == row.id));
        Ok(part.as_ref().and_then(super::halted))
    }

    /// The error of a part that cannot continue here and that an execution waits for, if any.
    pub(crate) async fn stuck_part_of(
        &self,
        row: &Row,
    ) -> Result<Option<RuntimeError>, RuntimeError> {
        if !self.claims.any_halted() {
            return Ok(None);
        }
        let parts = self.parts_of(row).await?;
        let mut errors = parts.iter().filter_map(|part| self.claims.halt_of(*part));
        // The row of a part says whether it is halted.
        let stuck = errors.find(|error| {
            !matches!(
                error,
                RuntimeError::TakenOver(_) | RuntimeError::Halted { .. }
            )
        });
        Ok(stuck)
    }
}
