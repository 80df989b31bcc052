//! The steps of an execution that could be undone now.

use std::collections::BTreeMap;

use flow_runtime::engine::StepKey;
use flow_store::{ExecutionId, Record, RecordKind};

use crate::entry::{Entry, Snapshot};
use crate::error::RuntimeError;

/// A step that is done and has an [undo node](crate#undoing), and that was neither undone nor
/// committed: see [`Execution::undoable`](crate::Execution::undoable).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndoableStep {
    path: String,
    step: String,
    visit: u32,
    item: Option<u32>,
}

impl UndoableStep {
    /// The path of its node, such as `order.charge`.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The name of the step, unique in the execution: see [`Record::step`].
    pub fn step(&self) -> &str {
        &self.step
    }

    /// The number of the visit to the node, from 1.
    pub fn visit(&self) -> u32 {
        self.visit
    }

    /// The index of the item, in a loop over items.
    pub fn item(&self) -> Option<u32> {
        self.item
    }
}

/// The steps that could be undone after a snapshot and these records, in the order in which they are
/// undone.
///
/// # Errors
///
/// A snapshot among the records cannot be read.
pub(crate) fn undoable_after(
    id: ExecutionId,
    snapshot: Option<&Snapshot>,
    records: &[Record],
) -> Result<Vec<UndoableStep>, RuntimeError> {
    let mut steps = snapshot.map(of_snapshot).unwrap_or_default();
    let mut outcomes: BTreeMap<&str, u64> = BTreeMap::new();
    for record in records {
        match record.kind {
            RecordKind::Outcome => {
                outcomes.insert(&record.step, record.seq);
                steps.retain(|_, done| StepKey::new(&done.step).undo() != record.step);
            }
            RecordKind::Undoable => {
                let outcome = outcomes.get(&*record.step).copied();
                let step = UndoableStep {
                    path: record.path.clone(),
                    step: record.step.clone(),
                    visit: record.visit,
                    item: record.item,
                };
                steps.insert(outcome.unwrap_or(record.seq), step);
            }
            RecordKind::Committed => {
                let Some(flow) = StepKey::new(&record.step).parent() else {
                    continue;
                };
                steps.retain(|_, done| !StepKey::new(&done.step).is_inside(flow));
            }
            RecordKind::Snapshot => {
                if let Entry::Snapshot(snapshot) = Entry::read(id, record) {
                    steps = of_snapshot(&snapshot.read()?);
                }
            }
            // What it was copied with belongs to the original.
            RecordKind::RunCopied => steps.clear(),
            _ => {}
        }
    }
    Ok(steps.into_values().rev().collect())
}

fn of_snapshot(snapshot: &Snapshot) -> BTreeMap<u64, UndoableStep> {
    let visits = snapshot.undoable.iter().map(|visit| {
        let step = UndoableStep {
            path: visit.path.clone(),
            step: visit.step.clone(),
            visit: visit.visit,
            item: visit.item,
        };
        (visit.number, step)
    });
    visits.collect()
}
