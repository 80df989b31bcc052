//! The contents of a store in memory.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::ops::Bound;

use uuid::Uuid;

use super::signals::Signals;
use crate::record::{Record, RecordKind};
use crate::refusal;
use crate::{
    Append, Claim, Created, EndIf, ExecutionId, Logged, PauseRow, PauseState, Row, Status,
    StoreError, Take, Token,
};

#[derive(Default)]
pub(super) struct Contents {
    pub(super) executions: BTreeMap<ExecutionId, Execution>,
    /// Executions by flow, owner and idempotency key.
    pub(super) keys: HashMap<Key, ExecutionId>,
    /// The execution of each question, and the question's index there.
    pub(super) tokens: HashMap<Token, (ExecutionId, usize)>,
    /// The log by offset.
    pub(super) log: BTreeMap<u64, (ExecutionId, u64)>,
    /// The offset of the newest record that ever existed.
    pub(super) offset: u64,
    /// The executions that can continue, with the time from which they can.
    pub(super) due: BTreeSet<(u64, ExecutionId)>,
    pub(super) claimed: BTreeSet<(Uuid, ExecutionId)>,
    /// The queue, in the order in which executions leave it.
    queued: BTreeSet<(Reverse<i32>, ExecutionId)>,
    /// The number of executions in progress by key.
    under_way: HashMap<String, u64>,
    pub(super) structures: HashMap<String, String>,
}

type Key = (String, Option<String>, String);

pub(super) struct Execution {
    pub(super) row: Row,
    pub(super) claim: Option<Claim>,
    /// The records without gaps, so that `seq` determines the place of a record.
    pub(super) records: VecDeque<Stored>,
    /// The questions in the order asked, including closed ones.
    pub(super) pauses: Vec<PauseRow>,
    /// The time at which a paused execution resumes by itself.
    pub(super) timer_ms: Option<u64>,
    pub(super) signals: Signals,
}

pub(super) struct Stored {
    pub(super) offset: u64,
    pub(super) record: Record,
}

impl Execution {
    pub(super) fn key(&self) -> Option<Key> {
        let key = self.row.idempotency_key.clone()?;
        Some((self.row.flow.clone(), self.row.owner.clone(), key))
    }

    /// Returns `true` if one of its questions is open.
    pub(super) fn asks(&self) -> bool {
        self.pauses
            .iter()
            .any(|pause| pause.state == PauseState::Open)
    }

    /// Returns the time from which it can continue if nobody claims it or writes to it.
    pub(super) fn ready_ms(&self) -> Option<u64> {
        match self.row.status {
            _ if self.row.halted.is_some() => None,
            Status::Running => Some(0),
            Status::Paused if self.pauses.iter().any(is_settled) => Some(0),
            Status::Paused => self.row.wake_ms,
            Status::Queued
            | Status::Cancelling
            | Status::Completed
            | Status::Failed
            | Status::Cancelled => None,
        }
    }

    /// Returns the time from which it can continue if nobody writes to it.
    pub(super) fn due_ms(&self) -> Option<u64> {
        let free_ms = self.claim.map_or(0, |claim| claim.until_ms);
        Some(self.ready_ms()?.max(free_ms))
    }

    /// Returns `true` if only a claim that is ahead of the clock keeps it from continuing.
    pub(super) fn is_kept_by_a_clock_ahead(&self, now_ms: u64) -> bool {
        let is_ready = self.ready_ms().is_some_and(|ready_ms| ready_ms <= now_ms);
        is_ready && self.claim.is_some_and(|claim| claim.is_ahead(now_ms))
    }

    /// Returns its place in the queue.
    fn queued(&self) -> Option<(Reverse<i32>, ExecutionId)> {
        let is_queued = self.row.status == Status::Queued;
        is_queued.then_some((Reverse(self.row.priority), self.row.id))
    }

    /// Returns its key, if it counts towards the limit of the key.
    fn counted(&self) -> Option<&str> {
        let concurrency = self.row.concurrency.as_ref();
        let key = concurrency.map(|concurrency| concurrency.key.as_str());
        key.filter(|_| self.row.status.is_under_way())
    }

    /// Returns a record as an entry of the log.
    pub(super) fn logged(&self, stored: &Stored) -> Logged {
        Logged {
            offset: stored.offset,
            execution: self.row.id,
            owner: self.row.owner.clone(),
            record: stored.record.clone(),
        }
    }

    /// Returns the place of the record with this `seq`, or of the first record after it.
    pub(super) fn place(&self, seq: u64) -> usize {
        let first = self.records.front().map_or(0, |first| first.record.seq);
        usize::try_from(seq.saturating_sub(first)).unwrap_or(usize::MAX)
    }

    pub(super) fn close_all(&mut self) {
        for pause in &mut self.pauses {
            pause.state = pause.state.closed();
        }
    }

    pub(super) fn ends(&self, condition: EndIf) -> bool {
        match condition {
            EndIf::NotOver => !self.row.status.is_over(),
            EndIf::PausedUntouchedSince(ms) => {
                self.row.status == Status::Paused
                    && self.row.updated_ms < ms
                    && !self.pauses.iter().any(is_settled)
                    && !self.signals.has_awaited()
            }
            EndIf::Queued => self.row.status == Status::Queued,
        }
    }

    pub(super) fn wake(&mut self) {
        self.row.wake_ms = self
            .pauses
            .iter()
            .filter(|pause| pause.state == PauseState::Open)
            .filter_map(|pause| pause.expires_ms)
            .chain(self.timer_ms)
            .min();
    }
}

pub(super) fn is_settled(pause: &PauseRow) -> bool {
    matches!(pause.state, PauseState::Answered(_) | PauseState::TimedOut)
}

impl Contents {
    /// Takes an execution out to change it, and removes its index entries.
    pub(super) fn take(&mut self, id: ExecutionId) -> Option<Execution> {
        let execution = self.executions.remove(&id)?;
        if let Some(due_ms) = execution.due_ms() {
            self.due.remove(&(due_ms, id));
        }
        if let Some(claim) = &execution.claim {
            self.claimed.remove(&(claim.holder, id));
        }
        if let Some(place) = execution.queued() {
            self.queued.remove(&place);
        }
        if let Some(key) = execution.counted()
            && let Some(count) = self.under_way.get_mut(key)
        {
            *count -= 1;
            if *count == 0 {
                self.under_way.remove(key);
            }
        }
        Some(execution)
    }

    pub(super) fn put(&mut self, mut execution: Execution) {
        let id = execution.row.id;
        if execution.row.status.is_over() {
            execution.claim = None;
            execution.timer_ms = None;
            execution.signals.awaited.clear();
            execution.close_all();
        }
        execution.wake();
        if let Some(due_ms) = execution.due_ms() {
            self.due.insert((due_ms, id));
        }
        if let Some(claim) = &execution.claim {
            self.claimed.insert((claim.holder, id));
        }
        self.queued.extend(execution.queued());
        if let Some(key) = execution.counted() {
            *self.under_way.entry(key.to_owned()).or_default() += 1;
        }
        self.executions.insert(id, execution);
    }

    /// Takes executions out of the queue.
    pub(super) fn take_queued(&mut self, take: &Take) -> Vec<Row> {
        let mut flows = take.flows.clone();
        let mut taken = Vec::new();
        let mut next = self.queued.first().copied();
        while let Some(place) = next
            && taken.len() < take.limit
        {
            let id = place.1;
            let after = (Bound::Excluded(place), Bound::Unbounded);
            next = self.queued.range(after).next().copied();
            let Some(execution) = self.executions.get(&id) else {
                continue;
            };
            let places = flows.get_mut(&execution.row.flow);
            let Some(places) = places.filter(|places| **places > 0) else {
                continue;
            };
            if !self.can_begin(execution, take.now_ms) {
                continue;
            }
            let Some(mut execution) = self.take(id) else {
                continue;
            };
            *places -= 1;
            execution.claim = Some(Claim::new(take.holder, take.now_ms, take.until_ms));
            execution.row.status = Status::Running;
            execution.row.fence += 1;
            execution.row.updated_ms = take.now_ms;
            taken.push(execution.row.clone());
            self.put(execution);
        }
        taken
    }

    /// Returns `true` if only the queue keeps an execution from running.
    fn can_begin(&self, execution: &Execution, now_ms: u64) -> bool {
        let row = &execution.row;
        let is_free = execution.claim.is_none_or(|claim| !claim.is_valid(now_ms));
        let has_room = row.concurrency.as_ref().is_none_or(|concurrency| {
            let under_way = self.under_way.get(&concurrency.key).copied();
            under_way.unwrap_or(0) < u64::from(concurrency.at_most)
        });
        is_free && has_room && row.not_before_ms.is_none_or(|ms| ms <= now_ms)
    }

    pub(super) fn add_records(&mut self, execution: &mut Execution, records: Vec<Record>) {
        let snapshot = refusal::newest_snapshot(&records);
        execution.row.snapshot_seq = snapshot.or(execution.row.snapshot_seq);
        for record in records {
            self.offset += 1;
            self.log.insert(self.offset, (execution.row.id, record.seq));
            execution.row.next_seq = record.seq + 1;
            execution.records.push_back(Stored {
                offset: self.offset,
                record,
            });
        }
    }

    pub(super) fn add_pauses(&mut self, execution: &mut Execution, pauses: Vec<PauseRow>) {
        for pause in pauses {
            let place = (execution.row.id, execution.pauses.len());
            self.tokens.insert(pause.token, place);
            execution.pauses.push(pause);
        }
    }

    pub(super) fn check_new(&self, id: ExecutionId, pauses: &[PauseRow]) -> Result<(), StoreError> {
        refusal::questions_of(id, pauses)?;
        for (index, pause) in pauses.iter().enumerate() {
            let twice = pauses[..index]
                .iter()
                .any(|other| other.token == pause.token);
            if twice || self.tokens.contains_key(&pause.token) {
                return Err(refusal::token_taken());
            }
        }
        Ok(())
    }

    /// Adds an execution.
    pub(super) fn create(
        &mut self,
        row: Row,
        records: Vec<Record>,
        pauses: Vec<PauseRow>,
        claim: Option<Claim>,
    ) -> Result<Created, StoreError> {
        let id = row.id;
        let claim = claim.filter(|_| !row.status.is_over());
        let fence = u64::from(claim.is_some());
        let mut execution = Execution {
            row: Row { fence, ..row },
            claim,
            records: VecDeque::new(),
            pauses: Vec::new(),
            timer_ms: None,
            signals: Signals::default(),
        };
        let key = execution.key();
        if let Some(existing) = key.as_ref().and_then(|key| self.keys.get(key)) {
            return Ok(Created::Existing(*existing));
        }
        if self.executions.contains_key(&id) {
            return Err(refusal::id_taken(id));
        }
        if let Some(first) = records.first() {
            refusal::sequence(id, first.seq, &records)?;
        }
        self.check_new(id, &pauses)?;
        self.keys.extend(key.map(|key| (key, id)));
        self.add_records(&mut execution, records);
        self.add_pauses(&mut execution, pauses);
        self.put(execution);
        Ok(Created::New)
    }

    /// Returns the execution if the claim with this fence is the current one.
    pub(super) fn check_claim(
        &self,
        id: ExecutionId,
        fence: u64,
    ) -> Result<&Execution, StoreError> {
        let execution = self.executions.get(&id).ok_or(StoreError::NotFound(id))?;
        let row = &execution.row;
        if row.fence != fence || execution.claim.is_none() || row.status.is_over() {
            return Err(StoreError::LeaseLost(id));
        }
        Ok(execution)
    }

    pub(super) fn check_append(
        &self,
        id: ExecutionId,
        fence: u64,
        append: &Append,
    ) -> Result<(), StoreError> {
        let execution = self.check_claim(id, fence)?;
        refusal::stored_status(id, append.status)?;
        refusal::sequence(id, execution.row.next_seq, &append.records)?;
        self.check_new(id, &append.opened)?;
        for token in &append.closed {
            let opened = append.opened.iter().any(|pause| pause.token == *token);
            let owned = self.tokens.get(token).is_some_and(|(of, _)| *of == id);
            if !opened && !owned {
                return Err(StoreError::UnknownToken(*token));
            }
        }
        if let Some(seq) = append.prune_before {
            let kept = execution.records.iter().map(|stored| &stored.record);
            let is_snapshot = kept
                .chain(&append.records)
                .any(|record| record.seq == seq && record.kind == RecordKind::Snapshot);
            if !is_snapshot {
                return Err(refusal::not_a_snapshot(id, seq));
            }
        }
        execution.signals.check(id, &append.taken)
    }
}
