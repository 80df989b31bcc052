//! The ledger in which steps enter what they do, and from which their undo nodes take it back. It is
//! outside of the processes and of the store, as a bank is: an entry has the id of its step, and is
//! made once however often that step runs.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use flow_durable::{Execution, ExecutionId, Record, RecordKind, Status};
use flow_runtime::Context;

use crate::world::{hashed, step_of, world};

/// What a step did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// What it wrote, which its undo node reads.
    pub(crate) value: u64,
    /// Whether it was taken back.
    pub(crate) undone: bool,
}

fn violated(message: String) {
    world(|world| world.violations.push(message));
}

/// A step does something.
pub(crate) fn enter(cx: &Context, value: u64) {
    let id = cx.step_id();
    let entry = world(|world| {
        let entry = world.ledger.entry(id.clone());
        // A process that was stopped may come late, when this is done and taken back.
        let new = Entry {
            value,
            undone: false,
        };
        entry.or_insert(new).clone()
    });
    if entry.value != value {
        violated(format!("`{id}` enters {value}, and its entry is {entry:?}"));
    }
}

/// Takes back what a step did.
///
/// # Errors
///
/// It cannot be taken back for now.
pub(crate) fn take_back(cx: &Context, value: u64) -> Result<(), String> {
    let id = cx.step_id();
    let Some(done) = id.strip_suffix("!undo") else {
        violated(format!("`{id}` is the step of an undo node"));
        return Ok(());
    };
    let refuses = refuses(&id);
    if refuses == Some(Refusal::Before) {
        return Err("the bank is closed".to_owned());
    }
    let entry = world(|world| {
        world.ledger.get_mut(done).map(|entry| {
            let before = entry.clone();
            entry.undone = true;
            before
        })
    });
    match entry {
        None => violated(format!("`{done}` is undone, and was never done")),
        Some(entry) if entry.value != value => {
            violated(format!(
                "`{done}` is undone with {value}, and wrote {}",
                entry.value
            ));
        }
        Some(_) => {}
    }
    let (execution, step) = (done.split_once('/'), step_of(done));
    let has_outcome = world(|world| {
        let of = |id: &ExecutionId| execution.is_some_and(|(text, _)| text == id.to_string());
        let mut journals = world.journals.iter().filter(|(id, _)| of(id));
        journals.any(|(_, records)| outcome_of(records, step).is_some())
    });
    if !has_outcome {
        violated(format!("`{done}` is undone before it is done"));
    }
    match refuses {
        Some(Refusal::After) => Err("the bank has lost its voice".to_owned()),
        _ => Ok(()),
    }
}

/// How an attempt to take something back fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Refusal {
    /// Without an effect.
    Before,
    /// After it.
    After,
}

/// Decides whether this attempt to take something back fails. Some fail so often that the execution
/// is halted, once or twice.
fn refuses(id: &str) -> Option<Refusal> {
    let step = step_of(id);
    if !hashed(&(step, "refuses")).is_multiple_of(6) {
        return None;
    }
    let most = 1 + hashed(&(step, "refusals")) % 4;
    let before = world(|world| {
        let refusals = world.refusals.entry(id.to_owned()).or_default();
        *refusals += 1;
        *refusals - 1
    });
    match hashed(&(step, before, "refusal")) % 3 {
        _ if before >= most => None,
        0 => Some(Refusal::After),
        _ => Some(Refusal::Before),
    }
}

/// Notes records that are stored, which somebody may remove later.
pub(crate) fn note(id: ExecutionId, records: &[Record]) {
    world(|world| {
        let journal = world.journals.entry(id).or_default();
        journal.extend(records.iter().map(|record| (record.seq, record.clone())));
    });
}

type Journal = BTreeMap<u64, Record>;

/// The number of the record that a step is done, since it has an outcome.
fn outcome_of(records: &Journal, step: &str) -> Option<u64> {
    let is_it = |record: &&Record| record.kind == RecordKind::Outcome && record.step == step;
    records.values().find(is_it).map(|record| record.seq)
}

/// Returns true if the reason for which an execution is halted says what could not be undone.
pub(crate) fn says_what_is_open(id: ExecutionId, reason: &str) -> bool {
    let path = reason.split_once("what `").and_then(|(_, rest)| {
        let (path, _) = rest.split_once("` did was not undone")?;
        Some(path)
    });
    let Some(path) = path else {
        return false;
    };
    world(|world| {
        let Some(records) = world.journals.get(&id) else {
            return false;
        };
        let mut visits = records
            .values()
            .filter(|record| record.kind == RecordKind::Outcome && record.path == path);
        visits.any(|record| {
            let undo = format!("{}!undo", record.step);
            let is_refused = world.refusals.contains_key(&format!("{id}/{undo}"));
            is_refused && outcome_of(records, &undo).is_none()
        })
    })
}

/// A visit whose effect is in the ledger.
struct Visit<'a> {
    step: &'a str,
    /// The numbers of the records that it is done, and that it is undone.
    done: u64,
    undone: Option<u64>,
}

/// An execution is over: what it has done stands if that is to be so, and is taken back otherwise.
pub(crate) fn check(execution: &Execution) {
    let (ledger, journals) = world(|world| (world.ledger.clone(), world.journals.clone()));
    let (id, prefix) = (execution.id(), format!("{}/", execution.id()));
    let records = journals.get(&id).cloned().unwrap_or_default();
    let mut visits = Vec::new();
    for (step, entry) in &ledger {
        let Some(step) = step.strip_prefix(&prefix) else {
            continue;
        };
        let Some(done) = outcome_of(&records, step) else {
            violated(format!("`{step}` has left an entry, and has no outcome"));
            continue;
        };
        let undone = outcome_of(&records, &format!("{step}!undo"));
        if entry.undone != undone.is_some() {
            violated(format!(
                "`{step}` is {entry:?}, and undone by record {undone:?}"
            ));
        }
        let visit = Visit { step, done, undone };
        visit.check(&records, execution.status());
        visits.push(visit);
    }
    visits.sort_by_key(|visit| Reverse(visit.done));
    for (at, newer) in visits.iter().enumerate() {
        for older in &visits[at + 1..] {
            in_order(newer, older, &records);
        }
    }
}

impl Visit<'_> {
    fn is_inside(&self, flow: &str) -> bool {
        let rest = self.step.strip_prefix(flow);
        rest.is_some_and(|rest| rest.starts_with('.'))
    }

    /// Checks that it is undone if it has to be, and stands otherwise.
    fn check(&self, records: &Journal, status: Status) {
        let Visit { step, done, undone } = *self;
        let mut has_to_be = matches!(status, Status::Failed | Status::Cancelled);
        for record in records.values() {
            let (flow, name) = match record.step.rsplit_once('.') {
                Some((flow, name)) => (flow, name.split('#').next().unwrap_or(name)),
                None => ("", ""),
            };
            match record.kind {
                RecordKind::Committed if self.is_inside(flow) && record.seq > done => {
                    if undone.is_some_and(|undone| undone > record.seq) {
                        violated(format!(
                            "`{step}` is undone, and was committed by record {}",
                            record.seq
                        ));
                    }
                    // What is done after this is another visit.
                    return;
                }
                RecordKind::NodeFinished
                    if is_undo(name) && self.is_inside(flow) && record.seq > done =>
                {
                    has_to_be = true;
                    self.before(record);
                }
                RecordKind::FlowFailed
                    if !is_composite(&record.step) && self.is_inside(&record.step) =>
                {
                    has_to_be = true;
                    self.before(record);
                }
                RecordKind::TimedOut if self.is_inside(&record.step) => has_to_be = true,
                _ => {}
            }
        }
        match undone {
            None if has_to_be => violated(format!("`{step}` is not undone: {status}")),
            Some(_) if !has_to_be && !may_be_dropped(step) => {
                violated(format!("`{step}` is undone for no reason: {status}"));
            }
            _ => {}
        }
    }

    /// It is undone before this record.
    fn before(&self, record: &Record) {
        if self.undone.is_some_and(|undone| undone > record.seq) {
            violated(format!(
                "`{}` is undone after record {}, `{}` of `{}`",
                self.step, record.seq, record.kind, record.step
            ));
        }
    }
}

/// Whether this is the name of a step `undo`, or of another one of the same flow.
fn is_undo(name: &str) -> bool {
    let rest = name.strip_prefix("undo");
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
}

/// Whether this segment of a step is a fork, a race or an item of a loop, by the names that
/// generated nodes have.
fn is_concurrent(segment: &str) -> bool {
    segment.contains('[') || is_numbered(segment, &['f', 'r'])
}

/// Whether a step is a fork, a loop or a race: what is done in one that fails stays for the flow around
/// it.
fn is_composite(step: &str) -> bool {
    let segment = step.rsplit('.').next().unwrap_or(step);
    !segment.contains('[') && (is_concurrent(segment) || is_numbered(segment, &['b']))
}

fn is_numbered(segment: &str, prefixes: &[char]) -> bool {
    let rest = segment.strip_prefix(prefixes);
    rest.is_some_and(|rest| rest.starts_with(|next: char| next.is_ascii_digit()))
}

/// Whether a step is in a flow in a branch, which may be dropped while that flow undoes what it has
/// done. The rest stays for the flow around it.
fn may_be_dropped(step: &str) -> bool {
    let segments: Vec<&str> = step.split('.').collect();
    let concurrent = segments.iter().position(|segment| is_concurrent(segment));
    concurrent.is_some_and(|at| {
        let inside = segments.len() - 1 - at;
        inside > usize::from(!segments[at].contains('['))
    })
}

/// The newer one of two visits is undone first, unless the flows of two branches undo what they have
/// done at the same time.
fn in_order(newer: &Visit<'_>, older: &Visit<'_>, records: &Journal) {
    let (Some(newer_undone), Some(older_undone)) = (newer.undone, older.undone) else {
        return;
    };
    let undo = format!("{}!undo", older.step);
    let began = records
        .values()
        .find(|record| record.kind == RecordKind::NodeStarted && record.step == undo);
    let is_newer = began.is_none_or(|began| newer.done < began.seq);
    if newer_undone < older_undone || !is_newer || may_be_at_once(newer.step, older.step) {
        return;
    }
    violated(format!(
        "`{}` is undone before `{}`, which was done later",
        older.step, newer.step
    ));
}

/// Whether two steps are in different branches, and one of them in a flow there.
fn may_be_at_once(one: &str, other: &str) -> bool {
    let (one, other): (Vec<&str>, Vec<&str>) =
        (one.split('.').collect(), other.split('.').collect());
    let same = one
        .iter()
        .zip(&other)
        .take_while(|(one, other)| one == other);
    let same = same.count();
    let of_items = [&one, &other].iter().all(|steps| steps[same].contains('['));
    let in_branches = same > 0 && is_concurrent(one[same - 1]) && !one[same - 1].contains('[');
    let is_in_flow = one.len() > same + 1 || other.len() > same + 1;
    (of_items || in_branches) && is_in_flow
}
