//! Reads the data that is needed to resume an execution.

use std::collections::HashSet;
use std::sync::Arc;

use flow_runtime::engine::{NodePath, Saved};
use flow_spec::diff::{Change, Effect};
use flow_spec::document::types;
use flow_spec::{FlowDocument, NodeDocument, node_path};
use flow_store::{
    ExecutionId, JOURNAL_FORMAT, PauseRow, PauseState, Record, RecordKind, Row, SignalRow, Store,
    StoreError, is_blob_marker, is_blob_marker_of,
};
use serde_json::{Map, Value};

use super::{PAGE, Shared};
use crate::entry::{Entry, Snapshot, Visits};
use crate::error::RuntimeError;
use crate::journal::CANCEL;
use crate::names::Names;
use crate::options::StoredOptions;
use crate::payload::WITHOUT_BLOBS;
use crate::registered::{Registered, document};
use crate::replay::is_awaited;
use crate::retried::counting;
use crate::steps::missing;
use crate::undoable::undoable_after;

/// The visits to nodes of the outermost flow that a snapshot counts.
pub(crate) fn loaded_visits(
    namespace: &str,
    snapshot: Option<&Snapshot>,
) -> Option<(String, Visits)> {
    snapshot.map(|snapshot| (namespace.to_owned(), snapshot.visits.clone()))
}

/// Everything that is needed to resume an execution.
pub(crate) struct Loaded {
    pub(crate) input: Saved,
    pub(crate) snapshot: Option<Snapshot>,
    /// The size of the snapshot in bytes. 0 if there is none.
    pub(crate) snapshot_bytes: usize,
    /// The records after the snapshot.
    pub(crate) records: Vec<Record>,
    pub(crate) pauses: Vec<PauseRow>,
    /// The signal with which it was cancelled, if it undoes first and has not taken it.
    pub(crate) cancellation: Option<SignalRow>,
    pub(crate) options: StoredOptions,
    /// The changes in the flow since the execution started.
    pub(crate) changes: Option<Vec<String>>,
    /// The former names under which it continues, if it does.
    pub(crate) names: Option<Arc<Names>>,
}

impl Loaded {
    /// The structure with which an execution continues, and its hash before it: that of the version of
    /// the flow, under former names if it keeps these.
    pub(crate) fn structure<'a>(&'a self, flow: &'a Registered) -> (&'a str, &'a str) {
        match &self.names {
            Some(names) => (names.hash(), names.structure()),
            None => (flow.hash(), flow.structure()),
        }
    }
}

/// The nodes that an execution has reached, by path within its flow and without the indices of
/// items.
pub(crate) struct Reached {
    nodes: HashSet<String>,
    /// The nodes whose undo nodes have to stay as they are: they have visits that can be undone, or
    /// that are older than a snapshot, which says what can be.
    to_undo: HashSet<String>,
}

impl Reached {
    /// # Errors
    ///
    /// A snapshot among the records cannot be read.
    fn new(
        id: ExecutionId,
        records: &[Record],
        snapshot: Option<&Snapshot>,
    ) -> Result<Self, RuntimeError> {
        let started = records
            .iter()
            .filter(|record| record.kind == RecordKind::NodeStarted);
        // The namespace is that of the flow with which the execution was started.
        let namespace = snapshot.map(|snapshot| snapshot.namespace.as_str());
        let namespace = namespace.or(records.first().map(|first| first.path.as_str()));
        let namespace = namespace.unwrap_or_default();
        let within = |path: &str| {
            let path = NodePath::new(path).within(namespace);
            path.map(NodePath::without_items)
        };
        let before = snapshot.into_iter().flat_map(|it| it.visits.keys());
        let before: HashSet<String> = before.cloned().collect();
        let undoable = undoable_after(id, snapshot, records)?;
        let undoable = undoable.iter().filter_map(|step| within(step.path()));
        Ok(Reached {
            nodes: started
                .filter_map(|record| within(&record.path))
                .chain(before.iter().cloned())
                .collect(),
            to_undo: undoable.chain(before.iter().cloned()).collect(),
        })
    }

    /// Returns true if a change concerns something that was reached, as the flow itself always was.
    /// A replay shows whether the records of a passed node still have a use, but not whether its
    /// visits are still undone.
    fn concerns(&self, change: &Change, old: &FlowDocument) -> bool {
        if !change.passed.is_empty() {
            let is_to_undo = |path| self.to_undo.contains(&path_in_runs(old, path));
            return change.pointer.ends_with(UNDO) && change.passed.iter().any(|it| is_to_undo(it));
        }
        let path = change.old_path.as_ref().unwrap_or(&change.path);
        path.is_empty() || self.nodes.contains(&path_in_runs(old, path))
    }
}

/// The end of the pointers to settings that say which node undoes another one.
const UNDO: &str = "/settings/undo";

/// The path of a node in a document, as runs name it: the body of a loop has the path of the loop.
fn path_in_runs(document: &FlowDocument, path: &str) -> String {
    let (mut flow, mut names) = (Some(document), Vec::new());
    for id in NodePath::new(path).segments().map(NodePath::as_str) {
        let nodes = flow.map_or(&[][..], |flow| &flow.nodes);
        let is_loop_over_it = |node: &&NodeDocument| {
            node.r#type == types::EACH && node.params.get("body").is_some_and(|body| body == id)
        };
        let around = nodes.iter().find(is_loop_over_it);
        names.push(around.map_or(id, |around| &around.id));
        let node = nodes.iter().find(|node| node.id == id);
        flow = node.and_then(|node| node.internal_flow.as_deref());
    }
    names.join(".")
}

/// The nodes that an execution has passed, by path as in [`Reached`]: the journal contains their
/// results, or those of nodes inside them.
fn passed(records: &[Record], namespace: &str) -> HashSet<String> {
    let mut passed = HashSet::new();
    for record in records.iter().filter(|record| is_awaited(record.kind)) {
        let Some(path) = NodePath::new(&record.path).within(namespace) else {
            continue;
        };
        let path = path.without_items();
        let within = Some(NodePath::new(&path));
        let nodes = std::iter::successors(within, |path| path.parent());
        passed.extend(nodes.map(|node| node.to_string()));
    }
    passed
}

/// The nodes that were renamed in the version with which an execution was started, in words, if the version
/// at hand is older and still has their former names. A step that was begun under the new name would be
/// begun again under the old one, even if no record says that it was begun.
fn renamed_since(old: &FlowDocument, new: &FlowDocument) -> Vec<String> {
    let renamed = |of: &FlowDocument, to: &FlowDocument| {
        let names = of.under_names_of(to);
        names.map_or_else(Vec::new, |names| names.nodes)
    };
    let back = renamed(new, old);
    let nodes = new.flatten_nodes();
    let is_there = |path: &str| {
        nodes
            .iter()
            .any(|at| node_path(&new.namespace, &at.path) == path)
    };
    let since = renamed(old, new).into_iter();
    since
        .filter(|node| !is_there(&node_path(&node.flow, &node.now)))
        .filter(|node| {
            !back
                .iter()
                .any(|it| it.now == node.was && it.was == node.now)
        })
        .map(|node| {
            let (now, was) = (node_path(&node.flow, &node.now), node.was);
            format!("node `{now}` was `{was}` before, and this version of the flow is older")
        })
        .collect()
}

impl Shared {
    /// The changes in a flow since an execution was started, if there are any and the journal may
    /// still fit. A change of a node that the execution has not reached does not affect its
    /// records.
    ///
    /// # Errors
    ///
    /// The journal does not fit.
    pub(crate) async fn changes(
        &self,
        row: &Row,
        flow: &Registered,
        reached: &Reached,
    ) -> Result<Option<Vec<String>>, RuntimeError> {
        if row.structure == flow.hash() {
            return Ok(None);
        }
        let unreadable = |reason: String| RuntimeError::Unreadable {
            execution: row.id,
            path: flow.namespace().to_owned(),
            reason,
        };
        let old = self
            .store
            .structure(&row.structure)
            .await
            .map_err(RuntimeError::of(row.id))?;
        let old = old.ok_or_else(|| {
            unreadable("the structure of its flow is not in the store".to_owned())
        })?;
        let old = document(&old).map_err(unreadable)?;
        let new = flow.document().map_err(unreadable)?;
        let diff = flow_spec::diff(&old, new);
        let breaks = |change: &&Change| {
            change.executions == Effect::Breaking && reached.concerns(change, &old)
        };
        let breaking: Vec<&Change> = diff.changes.iter().filter(breaks).collect();
        let older = renamed_since(&old, new);
        let fits = breaking.is_empty() && older.is_empty();
        let said = if fits {
            diff.changes.iter().collect()
        } else {
            breaking
        };
        let said = said.into_iter().map(|change| change.message.clone());
        let changes = said.chain(older);
        let changes = changes.chain(flow.stands_in().map(str::to_owned)).collect();
        if fits {
            return Ok(Some(changes));
        }
        Err(RuntimeError::FlowChanged {
            execution: row.id,
            flow: row.flow.clone(),
            changes,
        })
    }

    /// The changes up to a version of a flow that break an execution, judged by documents only. A
    /// runtime that has the version [judges](Self::judge) by a replay.
    pub(crate) async fn changes_up_to(
        &self,
        row: &Row,
        new: &FlowDocument,
    ) -> Result<Vec<String>, RuntimeError> {
        let of = RuntimeError::of(row.id);
        let old = self.store.structure(&row.structure).await.map_err(&of)?;
        let old = old.as_deref().map(FlowDocument::parse_spec);
        let Some(Ok(old)) = old else {
            return Ok(vec!["the structure of its flow cannot be read".to_owned()]);
        };
        let records = self
            .records(row.id, row.snapshot_seq.unwrap_or(0), None)
            .await?;
        let records = match counting(row.id, records) {
            Ok(records) => records,
            Err(error) => return Ok(vec![format!("its records cannot be read: {error}")]),
        };
        let Some(first) = records.first() else {
            return Ok(Vec::new());
        };
        let snapshot = records
            .iter()
            .rfind(|record| record.kind == RecordKind::Snapshot);
        let snapshot = snapshot.map(|record| snapshot_in(row.id, record));
        let snapshot = match snapshot.transpose() {
            Ok(snapshot) => snapshot,
            Err(error) => return Ok(vec![format!("its snapshot cannot be read: {error}")]),
        };
        let namespace = snapshot.as_ref().map_or(&first.path, |it| &it.namespace);
        let passed = passed(&records, namespace);
        let reached = match Reached::new(row.id, &records, snapshot.as_ref()) {
            Ok(reached) => reached,
            Err(error) => return Ok(vec![format!("its records cannot be read: {error}")]),
        };
        let breaks = |change: &&Change| {
            change.executions == Effect::Breaking
                && (reached.concerns(change, &old)
                    || change
                        .passed
                        .iter()
                        .any(|it| passed.contains(&path_in_runs(&old, it))))
        };
        let diff = flow_spec::diff(&old, new);
        let breaking = diff.changes.iter().filter(breaks);
        let breaking = breaking.map(|change| change.message.clone());
        Ok(breaking.chain(renamed_since(&old, new)).collect())
    }

    /// The records from one number up to another, which is excluded.
    pub(crate) async fn records(
        &self,
        id: ExecutionId,
        from: u64,
        until: Option<u64>,
    ) -> Result<Vec<Record>, RuntimeError> {
        let mut records: Vec<Record> = Vec::new();
        let mut next = from;
        loop {
            let left = until.map_or(u64::MAX, |until| until.saturating_sub(next));
            let limit = usize::try_from(left).map_or(PAGE, |left| left.min(PAGE));
            let page = self
                .store
                .records(id, next, limit)
                .await
                .map_err(RuntimeError::of(id))?;
            let full = page.len() == PAGE;
            next = page.last().map_or(next, |last| last.seq + 1);
            // If records have been pruned meanwhile, the store has returned later ones instead.
            let asked = |record: &Record| until.is_none_or(|until| record.seq < until);
            records.extend(page.into_iter().filter(asked));
            if !full {
                return Ok(records);
            }
        }
    }

    /// The records before this one, from the newest snapshot among them on.
    pub(crate) async fn records_to(
        &self,
        row: &Row,
        until: u64,
    ) -> Result<Vec<Record>, RuntimeError> {
        if let Some(seq) = row.snapshot_seq.filter(|seq| *seq < until) {
            return self.records(row.id, seq, Some(until)).await;
        }
        let records = records_since_snapshot(&*self.store, row.id, until).await;
        records.map_err(RuntimeError::of(row.id))
    }

    /// Reads the data that is needed to resume, up to this record, which is excluded.
    pub(crate) async fn load(
        &self,
        row: &Row,
        flow: &Registered,
        until: Option<u64>,
    ) -> Result<Loaded, RuntimeError> {
        check_format(row)?;
        let records = match until {
            Some(until) => self.records_to(row, until).await?,
            None => {
                let from = row.snapshot_seq.unwrap_or(0);
                self.records(row.id, from, None).await?
            }
        };
        let end = until.map_or(row.next_seq, |until| until.min(row.next_seq));
        let Journaled {
            input,
            snapshot,
            snapshot_bytes,
            records,
        } = journaled(row.id, flow, records, end)?;
        let pauses = self
            .store
            .pauses(row.id)
            .await
            .map_err(RuntimeError::of(row.id))?;
        if let Some(error) = pauses.iter().find_map(answered_elsewhere) {
            return Err(error);
        }
        let cancellation = if flow.undoes() {
            let signals = self.store.signals(row.id).await;
            let signals = signals.map_err(RuntimeError::of(row.id))?;
            signals.into_iter().find(|signal| signal.name == CANCEL)
        } else {
            None
        };
        let reached = Reached::new(row.id, &records, snapshot.as_ref())?;
        let changes = self.changes(row, flow, &reached).await?;
        let names = self.registry.names(row, flow).await?;
        let options = options_of(row, flow.namespace())?;
        let input = match &options.part {
            Some(part) => self.input_of(part.of).await?,
            None => input,
        };
        Ok(Loaded {
            input: Saved(input),
            snapshot,
            snapshot_bytes,
            records,
            pauses,
            cancellation,
            options,
            changes,
            names,
        })
    }
}

/// The records before this one, from the newest snapshot among them on. They are read backwards
/// page by page, so a look into a long execution reads about as much as one into a short one.
pub(crate) async fn records_since_snapshot(
    store: &dyn Store,
    id: ExecutionId,
    until: u64,
) -> Result<Vec<Record>, StoreError> {
    let mut pages = Vec::new();
    let mut end = until;
    while end > 0 {
        let from = end.saturating_sub(PAGE as u64);
        // Reads no more than needed: later records may be damaged.
        let wanted = usize::try_from(end - from).unwrap_or(PAGE);
        let mut page = store.records(id, from, wanted).await?;
        // If records have been pruned meanwhile, the store has returned later ones instead.
        page.retain(|record| record.seq < end);
        let mut kinds = page.iter().map(|record| record.kind);
        let snapshot = kinds.rposition(|kind| kind == RecordKind::Snapshot);
        if let Some(at) = snapshot {
            drop(page.drain(..at));
        }
        let is_first = snapshot.is_some() || page.is_empty();
        pages.push(page);
        if is_first {
            break;
        }
        end = from;
    }
    Ok(pages.into_iter().rev().flatten().collect())
}

/// Checks that this version of the library can read the journal.
pub(crate) fn check_format(row: &Row) -> Result<(), RuntimeError> {
    if row.format == JOURNAL_FORMAT {
        return Ok(());
    }
    Err(RuntimeError::JournalFormat {
        execution: row.id,
        found: row.format,
        known: JOURNAL_FORMAT,
    })
}

/// The records with which a run begins.
struct Journaled {
    input: Map<String, Value>,
    snapshot: Option<Snapshot>,
    /// The size of the snapshot in bytes. 0 if there is none.
    snapshot_bytes: usize,
    /// The records after the snapshot.
    records: Vec<Record>,
}

/// Finds the input and the newest snapshot among the records before `end`.
fn journaled(
    id: ExecutionId,
    flow: &Registered,
    records: Vec<Record>,
    end: u64,
) -> Result<Journaled, RuntimeError> {
    if let Some(error) = kept_elsewhere(id, &records) {
        return Err(error);
    }
    let gap = missing(&records, end).map(|seq| {
        let after = records.iter().find(|record| record.seq > seq);
        let path = after.map_or(flow.namespace(), |record| &record.path);
        unreadable(id, path, format!("record {seq} is missing"))
    });
    let mut records = counting(id, records)?;
    let at = records
        .iter()
        .rposition(|record| record.kind == RecordKind::Snapshot);
    let mut snapshot: Option<Snapshot> = None;
    let mut snapshot_bytes = 0;
    if let Some(at) = at {
        let rest = records.split_off(at + 1);
        if let Some(record) = records.pop() {
            let mut read = snapshot_in(id, &record)?;
            // A copy numbers records anew. Visits of the same number keep their order.
            for visit in &mut read.undoable {
                visit.number = visit.number.min(record.seq);
            }
            snapshot = Some(read);
            snapshot_bytes = record.payload.len();
        }
        records = rest;
    }
    let input = match (&snapshot, records.first()) {
        (Some(snapshot), _) => snapshot.input.clone(),
        (None, Some(first)) if first.seq == 0 => input_in(id, first)?,
        _ => {
            let reason = "its first record is missing".to_owned();
            return Err(unreadable(id, flow.namespace(), reason));
        }
    };
    if let Some(gap) = gap {
        return Err(gap);
    }
    check_records(id, &records)?;
    Ok(Journaled {
        input,
        snapshot,
        snapshot_bytes,
        records,
    })
}

/// The input in the first record of an execution, or in a snapshot.
pub(crate) fn input_in(
    id: ExecutionId,
    record: &Record,
) -> Result<Map<String, Value>, RuntimeError> {
    match Entry::read(id, record) {
        Entry::RunStarted(input) => input.read(),
        Entry::Snapshot(snapshot) => snapshot.read().map(|snapshot| snapshot.input),
        _ => {
            let reason = format!("record {}, {}, has no input", record.seq, record.kind);
            Err(unreadable(id, &record.path, reason))
        }
    }
}

fn snapshot_in(id: ExecutionId, record: &Record) -> Result<Snapshot, RuntimeError> {
    match Entry::read(id, record) {
        Entry::Snapshot(snapshot) => snapshot.read(),
        _ => unreachable!("the caller has looked at the kind of the record"),
    }
}

/// Checks the payloads that a replay cannot report when it needs them.
fn check_records(id: ExecutionId, records: &[Record]) -> Result<(), RuntimeError> {
    for record in records {
        match Entry::read(id, record) {
            Entry::Waiting(until) => drop(until.read()?),
            Entry::Awaiting(awaited) => drop(awaited.read()?),
            Entry::GaveUp(error) => drop(error.read()?),
            Entry::Undoable(values) => drop(values.read()?),
            Entry::Spread(division) => drop(division.read()?),
            _ => {}
        }
    }
    Ok(())
}

/// The error for a record for which the store has only a marker.
pub(crate) fn kept_elsewhere(id: ExecutionId, records: &[Record]) -> Option<RuntimeError> {
    let mut records = records.iter();
    let record = records.find(|record| is_blob_marker_of(record.seq, &record.payload))?;
    let reason = format!("record {} {WITHOUT_BLOBS}", record.seq);
    Some(unreadable(id, &record.path, reason))
}

/// The error for an answer for which the store has only a marker.
fn answered_elsewhere(pause: &PauseRow) -> Option<RuntimeError> {
    match &pause.state {
        PauseState::Answered(answer) if is_blob_marker(answer) => {
            let reason = format!("an answer {WITHOUT_BLOBS}");
            Some(unreadable(pause.execution, &pause.path, reason))
        }
        _ => None,
    }
}

/// The options of an execution. Errors name `path` as their place.
///
/// # Errors
///
/// [`RuntimeError::Unreadable`]: they are damaged.
pub(crate) fn options_of(row: &Row, path: &str) -> Result<StoredOptions, RuntimeError> {
    let damaged = |error| unreadable(row.id, path, format!("its options are damaged: {error}"));
    StoredOptions::parse(&row.options).map_err(damaged)
}

fn unreadable(execution: ExecutionId, path: &str, reason: String) -> RuntimeError {
    RuntimeError::Unreadable {
        execution,
        path: path.to_owned(),
        reason,
    }
}
