//! The state that a stream keeps about the executions that it meets.
//!
//! It contains the running nodes of each execution, so its memory is bounded by the nodes that run
//! at once and by [`KNOWN`]. A forgotten execution is looked up again.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use flow_store::{Damaged, ExecutionId, Logged, Record, RecordKind, Store, StoreError};

use super::structure::Structure;
use super::values::Followed;
use crate::entry::{Payload, is_end};
use crate::error::RuntimeError;
use crate::shared::Shared;
use crate::values::NodeValues;
use flow_runtime::engine::StepKey;

/// The number of executions that are remembered.
const KNOWN: usize = 256;

/// The number of structures that are remembered.
const STRUCTURES: usize = 64;

/// The number of records of a journal that are read at once.
const PAGE: usize = 500;

#[derive(Debug, Default)]
pub(super) struct Executions {
    known: HashMap<ExecutionId, Known>,
    structures: HashMap<String, Arc<Structure>>,
    /// Damage that is not reported yet. Each damage is found once, and the stream continues without
    /// the damaged part.
    damaged: Vec<Damaged>,
    uses: u64,
}

/// The known facts about an execution.
#[derive(Debug, Default)]
struct Known {
    /// The number after the newest record that the stream has passed.
    next_seq: u64,
    /// The number of records when it was looked up. Until the stream has passed everything in the
    /// store, it is not known which of them it has passed.
    stored: Option<u64>,
    structure: Option<Arc<Structure>>,
    /// True if its row is damaged.
    unreadable: bool,
    nodes: Nodes,
    followed: Followed,
    /// The damage for which the stream has not yielded an error yet.
    damage: Option<RuntimeError>,
    /// True if `nodes` includes the nodes that were reached before the stream began.
    complete: bool,
    /// True if the stream has passed its last record.
    over: bool,
    used: u64,
}

/// The running nodes, by step.
#[derive(Debug, Default)]
struct Nodes(HashMap<String, UnderWay>);

#[derive(Debug, Clone, Copy)]
struct UnderWay {
    started_ms: u64,
    failed: u32,
    /// True if the fallback follows.
    gave_up: bool,
    /// True if it has failed, which a retry of the execution forgets.
    has_failed: bool,
}

impl Nodes {
    fn add(&mut self, record: &Record) {
        match record.kind {
            RecordKind::NodeStarted => {
                let node = UnderWay {
                    started_ms: record.at_ms,
                    failed: 0,
                    gave_up: false,
                    has_failed: false,
                };
                self.0.insert(record.step.clone(), node);
            }
            RecordKind::AttemptFailed => {
                if let Some(node) = self.0.get_mut(&record.step) {
                    node.failed += 1;
                }
            }
            RecordKind::GaveUp => {
                if let Some(node) = self.0.get_mut(&record.step) {
                    node.gave_up = true;
                }
            }
            RecordKind::NodeFailed => {
                if let Some(node) = self.0.get_mut(&record.step) {
                    node.has_failed = true;
                }
            }
            RecordKind::RunRetried => {
                let failed = self.0.values_mut().filter(|node| node.has_failed);
                failed.for_each(|node| {
                    *node = UnderWay {
                        failed: 0,
                        gave_up: false,
                        has_failed: false,
                        ..*node
                    };
                });
            }
            RecordKind::NodeFinished => {
                let step = StepKey::new(&record.step);
                self.0
                    .retain(|other, _| !StepKey::new(other).is_within(step));
            }
            _ => {}
        }
    }

    fn at(&self, record: &Record) -> Option<UnderWay> {
        let node = StepKey::new(&record.step).without_retry();
        self.0.get(node.as_str()).copied()
    }
}

/// The facts about a record that are derived from the records before it.
#[derive(Debug)]
pub(super) struct Described {
    pub(super) node_type: Arc<str>,
    pub(super) attempts: Option<u32>,
    pub(super) duration: Option<Duration>,
    /// The error for a payload that cannot be decoded.
    pub(super) damaged: Option<RuntimeError>,
}

impl Executions {
    fn known(&mut self, id: ExecutionId) -> &mut Known {
        self.uses += 1;
        if !self.known.contains_key(&id) && self.known.len() >= KNOWN {
            let oldest = self.known.iter().min_by_key(|(_, known)| known.used);
            if let Some(oldest) = oldest.map(|(id, _)| *id) {
                self.known.remove(&oldest);
            }
        }
        let known = self.known.entry(id).or_default();
        known.used = self.uses;
        known
    }

    /// The damage found since the last call.
    pub(super) fn take_damaged(&mut self) -> impl Iterator<Item = Damaged> {
        std::mem::take(&mut self.damaged).into_iter()
    }

    /// Returns the value that was read. If it is damaged, notes the damage and returns `None`.
    fn readable<T>(
        &mut self,
        id: ExecutionId,
        result: Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(StoreError::Corrupt { place, reason }) => {
                self.damaged.push(Damaged {
                    execution: Some(id),
                    place,
                    reason,
                });
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// The structure of an execution's flow. `None` if its row does not exist or cannot be read.
    pub(super) async fn look_up(
        &mut self,
        store: &dyn Store,
        id: ExecutionId,
    ) -> Result<Option<Arc<Structure>>, StoreError> {
        let known = self.known(id);
        if known.structure.is_some() || known.unreadable {
            return Ok(known.structure.clone());
        }
        let row = store.execution(id).await;
        let row = match self.readable(id, row)? {
            Some(Some(row)) => row,
            Some(None) => {
                self.known.remove(&id);
                return Ok(None);
            }
            None => {
                self.known(id).unreadable = true;
                return Ok(None);
            }
        };
        let structure = match self.structures.get(&row.structure) {
            Some(structure) => structure.clone(),
            None => {
                let text = store.structure(&row.structure).await.and_then(|text| {
                    text.ok_or_else(|| StoreError::Corrupt {
                        place: format!("structure {}", row.structure),
                        reason: "it is missing".to_owned(),
                    })
                });
                let text = self.readable(id, text)?;
                let parsed = Arc::new(Structure::parse(&row.structure, &text.unwrap_or_default()));
                if self.structures.len() >= STRUCTURES {
                    self.structures.clear();
                }
                self.structures.insert(row.structure, parsed.clone());
                parsed
            }
        };
        let known = self.known(id);
        known.stored = Some(row.next_seq);
        known.structure = Some(structure.clone());
        Ok(Some(structure))
    }

    /// The facts about a record that the stream has not passed yet.
    pub(super) async fn describe(
        &mut self,
        store: &dyn Store,
        logged: &Logged,
    ) -> Result<Described, StoreError> {
        let (id, record) = (logged.execution, &logged.record);
        let structure = self.look_up(store, id).await?.unwrap_or_default();
        let mut described = Described {
            node_type: structure.type_at(&record.path),
            attempts: None,
            duration: None,
            damaged: None,
        };
        let depends = matches!(
            record.kind,
            RecordKind::Outcome
                | RecordKind::NodeFailed
                | RecordKind::FlowFailed
                | RecordKind::NodeFinished
        );
        if !depends {
            return Ok(described);
        }
        let known = self.known(id);
        let mut node = known.nodes.at(record);
        if node.is_none() && !known.complete && record.seq > 0 {
            let nodes = read_until(store, id, record.seq).await;
            let nodes = self.readable(id, nodes)?;
            let known = self.known(id);
            known.nodes = nodes.unwrap_or_default();
            known.complete = true;
            node = known.nodes.at(record);
        }
        let Some(node) = node else {
            return Ok(described);
        };
        let spent_ms = record.at_ms.saturating_sub(node.started_ms);
        described.duration = Some(Duration::from_millis(spent_ms));
        described.attempts = match record.kind {
            RecordKind::NodeFailed => match Payload::of(id, record).error() {
                Ok(failed) => Some(failed.attempts()),
                Err(error) => {
                    described.damaged = Some(error);
                    Some(node.failed)
                }
            },
            // The outcome is that of one more attempt, or of the fallback.
            RecordKind::Outcome => Some(node.failed + u32::from(!node.gave_up)),
            _ => None,
        };
        Ok(described)
    }

    /// The values that a node read or wrote by a record, which the stream has not passed yet.
    /// `None` if its flow or the records before it cannot be read; the first of them that is
    /// damaged is an error.
    pub(super) async fn values(
        &mut self,
        shared: &Shared,
        logged: &Logged,
    ) -> Result<Option<Result<NodeValues, RuntimeError>>, StoreError> {
        let (id, record, store) = (logged.execution, &logged.record, &*shared.store);
        let Some(structure) = self.look_up(store, id).await? else {
            return Ok(None);
        };
        let Some(document) = structure.document() else {
            return Ok(None);
        };
        let followed = std::mem::take(&mut self.known(id).followed);
        let added = followed.add(store, id, document, record).await;
        let Some((mut values, followed)) = self.readable(id, added)? else {
            self.known(id).followed = Followed::Unreadable;
            return Ok(None);
        };
        self.known(id).followed = followed;
        if let (Some(Ok(values)), RecordKind::NodeStarted) = (&mut values, record.kind) {
            let registry = &shared.registry;
            let settings = registry.settings(&document.name, structure.hash(), &record.path);
            if let Some(settings) = settings.await? {
                values.params = settings;
            }
        }
        Ok(values)
    }

    /// Keeps the error for a damaged record until the stream yields an event of its execution.
    pub(super) fn keep_damage(&mut self, id: ExecutionId, error: RuntimeError) {
        self.known(id).damage = Some(error);
    }

    /// Takes the error that was kept.
    pub(super) fn take_damage(&mut self, id: ExecutionId) -> Option<RuntimeError> {
        self.known.get_mut(&id)?.damage.take()
    }

    /// Notes that the stream has passed a record.
    pub(super) fn passed(&mut self, logged: &Logged) {
        let (id, record) = (logged.execution, &logged.record);
        let known = self.known(id);
        known.complete |= record.seq == 0;
        known.next_seq = record.seq + 1;
        if is_end(record.kind) {
            known.over = true;
            known.nodes = Nodes::default();
            known.followed = Followed::default();
        } else {
            if record.kind == RecordKind::RunRetried {
                known.over = false;
                // What was forgotten at the end is read again when it is needed.
                known.complete = false;
            }
            known.nodes.add(record);
        }
    }

    /// Returns true if the stream has passed the last record of an execution.
    pub(super) fn is_over(&self, id: ExecutionId) -> bool {
        self.known.get(&id).is_some_and(|known| known.over)
    }

    /// Returns true if the stream has passed all records of an execution before this one.
    pub(super) fn has_passed(&self, id: ExecutionId, next_seq: u64) -> bool {
        let known = self.known.get(&id);
        known.is_none_or(|known| known.next_seq >= next_seq)
    }

    /// Notes that the stream has passed everything that the store had after the known executions
    /// were looked up.
    pub(super) fn caught_up(&mut self) {
        for known in self.known.values_mut() {
            if let Some(stored) = known.stored.take() {
                known.next_seq = known.next_seq.max(stored);
            }
        }
    }

    /// Returns true if [`caught_up`](Executions::caught_up) would change something.
    pub(super) fn is_behind(&self) -> bool {
        let is_behind = |known: &Known| known.stored.is_some_and(|it| it > known.next_seq);
        self.known.values().any(is_behind)
    }
}

/// The nodes running before this record.
async fn read_until(store: &dyn Store, id: ExecutionId, seq: u64) -> Result<Nodes, StoreError> {
    let mut nodes = Nodes::default();
    let mut next = 0;
    while next < seq {
        let limit = usize::try_from(seq - next).map_or(PAGE, |left| left.min(PAGE));
        let page = store.records(id, next, limit).await?;
        let Some(last) = page.last() else { break };
        next = last.seq + 1;
        let earlier = page.iter().filter(|record| record.seq < seq);
        earlier.for_each(|record| nodes.add(record));
    }
    Ok(nodes)
}
