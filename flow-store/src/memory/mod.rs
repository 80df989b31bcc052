//! The store in memory.

mod contents;
mod signals;

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use uuid::Uuid;

use self::contents::{Contents, Execution};
use crate::record::Record;
use crate::refusal;
use crate::{
    Append, Claim, Created, Damaged, DamagedRecord, EndIf, ExecutionId, ListQuery, Logged, Mark,
    NewSignal, PauseRow, PauseState, Renewal, Row, Sent, Settlement, SignalRow, Status, Store,
    StoreError, Take, Token,
};

/// A store that keeps executions in memory, for tests and for programs that need no durability.
///
/// # Examples
///
/// ```
/// use flow_store::{MemoryStore, Store};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let store = MemoryStore::new();
/// assert_eq!(store.last_offset().await.unwrap(), 0);
/// # }
/// ```
#[derive(Default)]
pub struct MemoryStore {
    contents: Mutex<Contents>,
}

impl MemoryStore {
    /// Creates an empty store.
    pub fn new() -> MemoryStore {
        MemoryStore::default()
    }

    fn contents(&self) -> MutexGuard<'_, Contents> {
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore")
            .field("executions", &self.contents().executions.len())
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl Store for MemoryStore {
    async fn create(
        &self,
        row: Row,
        records: Vec<Record>,
        pauses: Vec<PauseRow>,
        claim: Option<Claim>,
    ) -> Result<Created, StoreError> {
        refusal::names(&row)?;
        self.contents().create(row, records, pauses, claim)
    }

    async fn create_part(
        &self,
        of: ExecutionId,
        fence: u64,
        row: Row,
        records: Vec<Record>,
    ) -> Result<Created, StoreError> {
        refusal::names(&row)?;
        let mut contents = self.contents();
        contents.check_claim(of, fence)?;
        if contents.executions.contains_key(&row.id) {
            return Ok(Created::Existing(row.id));
        }
        contents.create(row, records, Vec::new(), None)
    }

    async fn put_structure(&self, hash: &str, structure: &str) -> Result<(), StoreError> {
        let mut contents = self.contents();
        contents
            .structures
            .entry(hash.to_owned())
            .or_insert_with(|| structure.to_owned());
        Ok(())
    }

    async fn structure(&self, hash: &str) -> Result<Option<String>, StoreError> {
        Ok(self.contents().structures.get(hash).cloned())
    }

    async fn execution(&self, id: ExecutionId) -> Result<Option<Row>, StoreError> {
        let contents = self.contents();
        Ok(contents.executions.get(&id).map(|it| it.row.clone()))
    }

    async fn list(&self, query: &ListQuery) -> Result<Vec<Result<Row, Damaged>>, StoreError> {
        let contents = self.contents();
        let allowed = |it: &&Execution| {
            query.allows(&it.row) && query.asks.is_none_or(|asks| it.asks() == asks)
        };
        let executions = contents.executions.values().rev().filter(allowed);
        Ok(executions
            .take(query.limit.unwrap_or(usize::MAX))
            .map(|it| Ok(it.row.clone()))
            .collect())
    }

    async fn claim(
        &self,
        id: ExecutionId,
        holder: Uuid,
        now_ms: u64,
        until_ms: u64,
    ) -> Result<Option<Row>, StoreError> {
        let mut contents = self.contents();
        let taken = |it: &Execution| it.claim.is_some_and(|claim| claim.is_valid(now_ms));
        let free = |it: &Execution| !it.row.status.is_over() && !taken(it);
        if !contents.executions.get(&id).is_some_and(free) {
            return Ok(None);
        }
        let Some(mut execution) = contents.take(id) else {
            return Ok(None);
        };
        execution.claim = Some(Claim::new(holder, now_ms, until_ms));
        execution.row.fence += 1;
        let row = execution.row.clone();
        contents.put(execution);
        Ok(Some(row))
    }

    async fn take_queued(&self, take: &Take) -> Result<Vec<Result<Row, Damaged>>, StoreError> {
        let taken = self.contents().take_queued(take);
        Ok(taken.into_iter().map(Ok).collect())
    }

    async fn claim_of(&self, id: ExecutionId) -> Result<Option<Claim>, StoreError> {
        let contents = self.contents();
        Ok(contents.executions.get(&id).and_then(|it| it.claim))
    }

    async fn break_claim(&self, id: ExecutionId, claim: Claim) -> Result<bool, StoreError> {
        let mut contents = self.contents();
        let is_the_one = |it: &Execution| it.claim == Some(claim);
        if !contents.executions.get(&id).is_some_and(is_the_one) {
            return Ok(false);
        }
        if let Some(mut execution) = contents.take(id) {
            execution.claim = Some(claim.broken());
            contents.put(execution);
        }
        Ok(true)
    }

    async fn renew(&self, holder: Uuid, until_ms: u64) -> Result<Vec<Renewal>, StoreError> {
        let mut contents = self.contents();
        let first = ExecutionId::from(Uuid::nil());
        let last = ExecutionId::from(Uuid::max());
        let held: Vec<ExecutionId> = contents
            .claimed
            .range((holder, first)..=(holder, last))
            .map(|(_, id)| *id)
            .collect();
        let mut renewals = Vec::new();
        for id in held {
            let Some(mut execution) = contents.take(id) else {
                continue;
            };
            if let Some(claim) = &mut execution.claim {
                claim.until_ms = claim.until_ms.max(until_ms);
            }
            let fence = execution.row.fence;
            renewals.push(Renewal { id, fence });
            contents.put(execution);
        }
        Ok(renewals)
    }

    async fn append(&self, id: ExecutionId, fence: u64, append: Append) -> Result<(), StoreError> {
        let mut contents = self.contents();
        contents.check_append(id, fence, &append)?;
        let mut execution = contents.take(id).ok_or(StoreError::NotFound(id))?;
        contents.add_records(&mut execution, append.records);
        contents.add_pauses(&mut execution, append.opened);
        for token in &append.closed {
            if let Some((_, number)) = contents.tokens.get(token) {
                let state = &mut execution.pauses[*number].state;
                *state = state.closed();
            }
        }
        let pruned = append.prune_before.map_or(0, |seq| execution.place(seq));
        for stored in execution.records.drain(..pruned) {
            contents.log.remove(&stored.offset);
        }
        let row = &mut execution.row;
        row.updated_ms = append.now_ms;
        row.status = append.status.unwrap_or(row.status);
        row.result = append.result.or(row.result.take());
        if let Some(structure) = append.structure {
            row.structure = structure;
        }
        if append.release {
            execution.claim = None;
        }
        execution.timer_ms = append.timer_ms;
        execution.signals.take(&append.taken);
        execution.wait_for(append.awaited, append.status, append.now_ms);
        contents.put(execution);
        Ok(())
    }

    async fn mark(&self, id: ExecutionId, fence: u64, mark: Mark) -> Result<(), StoreError> {
        let mut contents = self.contents();
        contents.check_claim(id, fence)?;
        let mut execution = contents.take(id).ok_or(StoreError::NotFound(id))?;
        execution.row.halted = mark.halted;
        execution.row.take_overs = mark.take_overs;
        if let Some(options) = mark.options {
            execution.row.options = options;
        }
        contents.put(execution);
        Ok(())
    }

    async fn end(
        &self,
        id: ExecutionId,
        status: Status,
        reason: &str,
        record: Record,
        condition: EndIf,
    ) -> Result<Row, StoreError> {
        refusal::is_an_end(status)?;
        let mut contents = self.contents();
        let mut execution = contents.take(id).ok_or(StoreError::NotFound(id))?;
        if execution.ends(condition) {
            let seq = execution.row.next_seq;
            execution.row.fence += 1;
            execution.row.status = status;
            execution.row.result = Some(reason.to_owned());
            execution.row.updated_ms = record.at_ms;
            contents.add_records(&mut execution, vec![Record { seq, ..record }]);
        }
        contents.put(execution);
        let ended = contents.executions.get(&id);
        ended
            .map(|it| it.row.clone())
            .ok_or(StoreError::NotFound(id))
    }

    async fn reopen(
        &self,
        id: ExecutionId,
        status: Status,
        record: Record,
    ) -> Result<Row, StoreError> {
        refusal::is_reopened(status)?;
        let mut contents = self.contents();
        let mut execution = contents.take(id).ok_or(StoreError::NotFound(id))?;
        let row = &mut execution.row;
        if row.status.is_over() && row.next_seq == record.seq {
            row.reopen(status, record.at_ms);
            contents.add_records(&mut execution, vec![record]);
        }
        contents.put(execution);
        let reopened = contents.executions.get(&id);
        reopened
            .map(|it| it.row.clone())
            .ok_or(StoreError::NotFound(id))
    }

    async fn records(
        &self,
        id: ExecutionId,
        from_seq: u64,
        limit: usize,
    ) -> Result<Vec<Record>, StoreError> {
        let contents = self.contents();
        let Some(execution) = contents.executions.get(&id) else {
            return Ok(Vec::new());
        };
        let stored = execution.records.iter().skip(execution.place(from_seq));
        Ok(stored.take(limit).map(|it| it.record.clone()).collect())
    }

    async fn pauses(&self, id: ExecutionId) -> Result<Vec<PauseRow>, StoreError> {
        let contents = self.contents();
        let Some(execution) = contents.executions.get(&id) else {
            return Ok(Vec::new());
        };
        let open = |pause: &&PauseRow| !pause.state.is_closed();
        Ok(execution.pauses.iter().filter(open).cloned().collect())
    }

    async fn pause(&self, token: Token) -> Result<Option<PauseRow>, StoreError> {
        let contents = self.contents();
        let Some((id, number)) = contents.tokens.get(&token) else {
            return Ok(None);
        };
        let execution = contents.executions.get(id);
        Ok(execution.and_then(|it| it.pauses.get(*number).cloned()))
    }

    async fn settle(
        &self,
        token: Token,
        settlement: Settlement,
        now_ms: u64,
    ) -> Result<PauseRow, StoreError> {
        let mut contents = self.contents();
        let unknown = StoreError::UnknownToken(token);
        let Some((id, number)) = contents.tokens.get(&token).copied() else {
            return Err(unknown);
        };
        let Some(mut execution) = contents.take(id) else {
            return Err(unknown);
        };
        let pause = &mut execution.pauses[number];
        let before = pause.clone();
        if before.state == PauseState::Open {
            pause.state = match settlement {
                Settlement::Answer(answer) => PauseState::Answered(answer),
                Settlement::TimedOut => PauseState::TimedOut,
            };
            execution.row.updated_ms = now_ms;
        }
        contents.put(execution);
        Ok(before)
    }

    async fn signal(&self, id: ExecutionId, signal: NewSignal) -> Result<Sent, StoreError> {
        refusal::signal_names(id, &signal)?;
        let mut contents = self.contents();
        let mut execution = contents.take(id).ok_or(StoreError::NotFound(id))?;
        let sent = execution.signal(signal);
        contents.put(execution);
        Ok(sent)
    }

    async fn signals(&self, id: ExecutionId) -> Result<Vec<SignalRow>, StoreError> {
        let contents = self.contents();
        let signals = contents.executions.get(&id).map(|it| it.signals.waiting());
        Ok(signals.unwrap_or_default())
    }

    async fn due(
        &self,
        now_ms: u64,
        after: Option<ExecutionId>,
        limit: usize,
    ) -> Result<Vec<Result<ExecutionId, Damaged>>, StoreError> {
        let contents = self.contents();
        let last = (now_ms, ExecutionId::from(Uuid::max()));
        let due = contents.due.range(..=last).map(|(_, id)| *id);
        let is_kept = |id: &ExecutionId| {
            let execution = contents.executions.get(id);
            execution.is_some_and(|it| it.is_kept_by_a_clock_ahead(now_ms))
        };
        let claimed = contents.claimed.iter().map(|(_, id)| *id);
        let due = due.chain(claimed.filter(is_kept));
        let mut due: Vec<ExecutionId> = due.filter(|id| Some(*id) > after).collect();
        due.sort_unstable();
        due.truncate(limit);
        Ok(due.into_iter().map(Ok).collect())
    }

    async fn log(
        &self,
        execution: Option<ExecutionId>,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Result<Logged, DamagedRecord>>, StoreError> {
        let contents = self.contents();
        let Some(first) = after.checked_add(1) else {
            return Ok(Vec::new());
        };
        if let Some(id) = execution {
            let Some(execution) = contents.executions.get(&id) else {
                return Ok(Vec::new());
            };
            let passed = execution.records.partition_point(|it| it.offset < first);
            let logged = execution.records.range(passed..);
            let logged = logged.map(|stored| Ok(execution.logged(stored)));
            return Ok(logged.take(limit).collect());
        }
        let logged = contents.log.range(first..).filter_map(|(_, (id, seq))| {
            let execution = contents.executions.get(id)?;
            let stored = execution.records.get(execution.place(*seq))?;
            Some(Ok(execution.logged(stored)))
        });
        Ok(logged.take(limit).collect())
    }

    async fn last_offset(&self) -> Result<u64, StoreError> {
        let contents = self.contents();
        Ok(contents
            .log
            .last_key_value()
            .map_or(0, |(offset, _)| *offset))
    }

    async fn delete(&self, id: ExecutionId) -> Result<bool, StoreError> {
        let mut contents = self.contents();
        let Some(execution) = contents.take(id) else {
            return Ok(false);
        };
        if let Some(key) = execution.key() {
            contents.keys.remove(&key);
        }
        for pause in &execution.pauses {
            contents.tokens.remove(&pause.token);
        }
        for stored in &execution.records {
            contents.log.remove(&stored.offset);
        }
        Ok(true)
    }
}
