//! Runs a case, and compares its end with that of the same case undisturbed.

use std::fmt;

use flow_durable::{
    Execution, ExecutionId, ListQuery, Record, RecordKind, Row, SignalRow, Status, Store as _,
};

use crate::additions;
use crate::backend::Backend;
use crate::case::{Case, Loaded};
use crate::flows;
use crate::laws;
use crate::ledger;
use crate::process::{CANCELLED, Done, Machine, Refused, Work};
use crate::versions::Version;
use crate::world::{World, world};

/// What went wrong in a case.
#[derive(Debug)]
pub struct Failure {
    /// The case, with as few stops as it needs.
    pub case: Case,
    /// What went wrong in it.
    pub violations: Vec<String>,
    /// What ran.
    pub runs: Vec<String>,
    /// The journal at its end.
    pub journal: Vec<Record>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n\nWhat went wrong:", self.case)?;
        for violation in &self.violations {
            writeln!(f, "  {violation}")?;
        }
        writeln!(f, "\nWhat ran:")?;
        for run in &self.runs {
            writeln!(f, "  {run}")?;
        }
        writeln!(f, "\nThe journal:")?;
        for record in &self.journal {
            writeln!(
                f,
                "  {} {} {} {}",
                record.seq, record.kind, record.step, record.payload
            )?;
        }
        Ok(())
    }
}

/// How a case ended.
struct Ending {
    status: Status,
    output: Option<serde_json::Value>,
    journal: Vec<Record>,
    /// The records of the parts of its loops.
    parts: Vec<Record>,
}

/// What the ends of two executions say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compared {
    /// They are the same.
    Same,
    /// One ran into a time limit that the other one did not: whoever is stopped takes longer. So their ends may differ.
    OtherTimeouts,
}

/// Runs a case, and the same undisturbed.
///
/// # Errors
///
/// A law was violated: in memory, with the smallest case found in which one is. On a server that would
/// take too long.
pub fn check(case: &Case) -> Result<Compared, Box<Failure>> {
    check_as_it_is(case).map_err(|failure| match case.backend {
        Backend::Memory => shrunk(failure),
        Backend::Sqlite | Backend::Postgres | Backend::Redis => failure,
    })
}

impl Ending {
    /// Its records, and those of the parts of its loops.
    fn records(&self) -> Vec<&Record> {
        self.journal.iter().chain(&self.parts).collect()
    }

    /// Whether this execution and another one ended for the same reasons. Both journals are whole.
    fn compared_with(&self, other: &Ending) -> Compared {
        let (before, after) = (self.records(), other.records());
        if laws::timed_out(&before) == laws::timed_out(&after) {
            Compared::Same
        } else {
            Compared::OtherTimeouts
        }
    }

    /// Another execution ended as this one did.
    fn check_same(&self, other: &Ending, what: &str) {
        if (self.status, &self.output) != (other.status, &other.output) {
            violated(format!(
                "{what} ended as {} with {:?}, and undisturbed as {} with {:?}",
                other.status, other.output, self.status, self.output
            ));
        }
    }
}

/// Takes away what the failure does not need.
fn shrunk(mut failure: Box<Failure>) -> Box<Failure> {
    loop {
        let case = failure.case.clone();
        let fewer = (0..case.stops.len()).map(|index| {
            let mut fewer = case.clone();
            fewer.stops.remove(index);
            fewer
        });
        let simpler = [
            Case {
                copies: 0,
                ..case.clone()
            },
            Case {
                prune: false,
                ..case.clone()
            },
            Case {
                snapshot_every: 0,
                ..case.clone()
            },
            Case {
                loaded: Loaded::Never,
                ..case.clone()
            },
            Case {
                freeze: None,
                ..case.clone()
            },
            Case {
                moves: false,
                ..case.clone()
            },
            Case {
                deleted: None,
                ..case.clone()
            },
            Case {
                cancelled: None,
                ..case.clone()
            },
            Case {
                changed: None,
                ..case.clone()
            },
            Case {
                busy: false,
                ..case.clone()
            },
        ];
        let smaller = fewer
            .chain(simpler.into_iter().filter(|simpler| *simpler != case))
            .find_map(|smaller| check_as_it_is(&smaller).err());
        match smaller {
            Some(smaller) => failure = smaller,
            None => return failure,
        }
    }
}

fn check_as_it_is(case: &Case) -> Result<Compared, Box<Failure>> {
    let expected = run(&case.undisturbed())?;
    let ending = run(case)?;
    let (Some(expected), Some(ending)) = (expected, ending) else {
        return Ok(Compared::Same);
    };
    // Where it is when it is cancelled depends on all that delays it.
    if !case.keeps_the_end() || case.cancelled.is_some() {
        verdict(case, &ending.journal)?;
        return Ok(Compared::Same);
    }
    let whole = if case.prune {
        run(&Case {
            prune: false,
            ..case.clone()
        })?
    } else {
        None
    };
    let compared = expected.compared_with(whole.as_ref().unwrap_or(&ending));
    if compared == Compared::Same {
        expected.check_same(&ending, "it");
        laws::same_outcomes(&expected.records(), &ending.records());
    }
    verdict(case, &ending.journal)?;
    Ok(compared)
}

fn violated(message: String) {
    world(|world| world.violations.push(message));
}

/// A failure, if anything was violated until now.
fn verdict(case: &Case, journal: &[Record]) -> Result<(), Box<Failure>> {
    let World {
        violations, runs, ..
    } = world(std::mem::take);
    if violations.is_empty() {
        Ok(())
    } else {
        Err(Box::new(Failure {
            case: case.clone(),
            violations,
            runs,
            journal: journal.to_vec(),
        }))
    }
}

/// Runs a case to its end. `None` if its execution was removed.
fn run(case: &Case) -> Result<Option<Ending>, Box<Failure>> {
    world(|world| {
        *world = World {
            seed: case.world,
            ..World::default()
        };
    });
    let flow = flows::all()[case.flow % flows::all().len()];
    let mut machine = Machine::new(case.backend);
    let mut before = Vec::new();
    let mut stops = case.stops.iter().copied();
    let input = Work::Start(case.world % 100);
    // With which records and how many answers the new version found it, and whether that has refused it.
    let (mut at_change, mut is_refused) = (None, false);
    let execution = loop {
        let stop = stops.next();
        let version = match case.version(machine.processes) {
            Version::Changed(_) if is_refused => Version::Compiled,
            version => version,
        };
        if let Version::Changed(_) = version {
            at_change.get_or_insert_with(|| (before.clone(), answers()));
        }
        let done = machine.process(case, (flow, version), input, stop);
        match stored(&machine) {
            // It may be another one.
            Some((id, records)) if case.deleted.is_some() => laws::stored(id, &records),
            Some((id, records)) => {
                laws::stopped(id, &mut before, records, case.prune);
                for (part, records) in parts(&machine, id) {
                    laws::stored(part, &records);
                }
            }
            None => {}
        }
        match done {
            Some(Done::Over(execution)) => break execution,
            Some(Done::Deleted) => {
                verdict_keeps(case, &before)?;
                return Ok(None);
            }
            Some(Done::Refused(_)) if !matches!(version, Version::Changed(_)) => {
                violated("it is refused although its flow has not changed".to_owned());
                verdict(case, &before)?;
            }
            Some(Done::Refused(Refused::Part)) => is_refused = true,
            Some(Done::Refused(Refused::Whole)) => {
                is_refused = true;
                let (records, given) = at_change.clone().unwrap_or_default();
                if records != before {
                    violated("a version refuses it that has continued it".to_owned());
                }
                if given != answers() {
                    violated("a version refuses it that has taken an answer to it".to_owned());
                }
                verdict_keeps(case, &before)?;
            }
            None if stop.is_some() => {}
            None => {
                violated("it did not end".to_owned());
                verdict(case, &before)?;
                unreachable!("something was violated");
            }
        }
    };
    laws::ended(&before);
    if case.cancelled.is_none() && execution.status() == Status::Cancelled {
        violated("nobody has cancelled it".to_owned());
    }
    if execution.status() == Status::Cancelled && execution.reason() != Some(CANCELLED) {
        violated(format!("it is cancelled: {:?}", execution.reason()));
    }
    if case.keeps_the_end() {
        ledger::check(&execution);
    }
    let parts = parts(&machine, execution.id());
    let journals = parts.iter().map(|(id, records)| (*id, records));
    for (id, records) in journals.chain([(execution.id(), &before)]) {
        laws::journal(records, case.changed.is_some());
        if !case.prune {
            laws::answers(id, records);
            laws::late_answers(id, records);
            laws::signals(id, records, &untaken(&machine, id));
        }
    }
    let ending = ending(&execution, before, parts);
    if case.changed.is_none() && !case.prune {
        additions::check(&flow.structure(), execution.id(), &ending.records());
    }
    // What a copy continues from may not fit the new version.
    let copies = if case.changed.is_some() {
        0
    } else {
        case.copies
    };
    for index in 1..=copies {
        copy(case, &mut machine, &execution, &ending, index);
    }
    // A process that was stopped and goes on would try it once more.
    let is_retried = case.changed.is_none() && case.deleted.is_none() && case.freeze.is_none();
    if execution.status() == Status::Failed && is_retried {
        retry(case, &mut machine, &execution, &ending);
    }
    verdict_keeps(case, &ending.journal)?;
    Ok(Some(ending))
}

/// How many answers were accepted.
fn answers() -> usize {
    world(|world| world.accepted.len())
}

/// As [`verdict`], and what was noted stays.
fn verdict_keeps(case: &Case, journal: &[Record]) -> Result<(), Box<Failure>> {
    if world(|world| world.violations.is_empty()) {
        Ok(())
    } else {
        verdict(case, journal)
    }
}

fn ending(
    execution: &Execution,
    journal: Vec<Record>,
    parts: Vec<(ExecutionId, Vec<Record>)>,
) -> Ending {
    let output = match execution.output_json() {
        Ok(output) => output,
        Err(error) => {
            violated(format!("its output cannot be read: {error}"));
            None
        }
    };
    Ending {
        status: execution.status(),
        output,
        journal,
        parts: parts.into_iter().flat_map(|(_, records)| records).collect(),
    }
}

/// Goes on from one of its records: the new execution ends as this one did.
fn copy(
    case: &Case,
    machine: &mut Machine,
    execution: &Execution,
    expected: &Ending,
    index: usize,
) {
    let flow = flows::all()[case.flow % flows::all().len()];
    let (first, last) = match (expected.journal.first(), expected.journal.last()) {
        (Some(first), Some(last)) => (first.seq, last.seq),
        _ => return,
    };
    let seq = first + (index as u64 * 7919 + case.world) % (last - first + 1);
    let work = Work::Copy(execution.id(), seq);
    let version = case.version(machine.processes);
    let Some(Done::Over(copied)) = machine.process(case, (flow, version), work, None) else {
        return;
    };
    let journal = records(machine, copied.id()).unwrap_or_default();
    let parts = parts(machine, copied.id());
    let ending = ending(&copied, journal, parts);
    ledger::check(&copied);
    // The original was cancelled, or would have been.
    let is_cancelled = case.cancelled.is_some();
    // A copy is sent the same signals from the first one on, whatever its original had taken.
    let mut records = expected.journal.iter();
    let is_told = records.any(|record| record.kind == RecordKind::Received);
    if !is_cancelled && !is_told && expected.compared_with(&ending) == Compared::Same {
        let what = format!("the execution that goes on from record {seq}");
        expected.check_same(&ending, &what);
    }
}

/// Tries an execution again that has failed: nothing that was done is done again, and it fails again, because
/// nothing has changed. Who wins a race may be another one, since what was done takes no time any more.
fn retry(case: &Case, machine: &mut Machine, execution: &Execution, expected: &Ending) {
    let flow = flows::all()[case.flow % flows::all().len()];
    let id = execution.id();
    let failed = |record: &&Record| record.kind == RecordKind::NodeFailed;
    let failed: Vec<String> = parts(machine, id)
        .into_iter()
        .chain([(id, expected.journal.clone())])
        .flat_map(|(id, records)| {
            let failed: Vec<String> = records
                .iter()
                .filter(failed)
                .map(|record| format!("{id}/{}", record.step))
                .collect();
            failed
        })
        .collect();
    world(|world| world.done.retain(|step| !failed.contains(step)));
    let version = case.version(machine.processes);
    let work = Work::Retry(id);
    let stop = case.stops.first().copied();
    let mut done = machine.process(case, (flow, version), work, stop);
    if stop.is_some() && !matches!(done, Some(Done::Over(_))) {
        done = machine.process(case, (flow, version), work, None);
    }
    let Some(Done::Over(retried)) = done else {
        return;
    };
    let journal = records(machine, id).unwrap_or_default();
    if !case.prune && !journal.starts_with(&expected.journal) {
        violated("records are no longer there after it was retried".to_owned());
    }
    laws::ended(&journal);
    let counting = laws::counting(id, journal);
    laws::journal(&counting, false);
    let parts = parts(machine, id)
        .into_iter()
        .map(|(part, records)| (part, laws::counting(part, records)));
    let ending = ending(&retried, counting, parts.collect());
    let has_race = flow.structure().to_string().contains("flow.first");
    if !has_race && expected.compared_with(&ending) == Compared::Same {
        expected.check_same(&ending, "the execution that was retried");
    }
}

/// The only execution, with its records.
pub(crate) fn stored(machine: &Machine) -> Option<(ExecutionId, Vec<Record>)> {
    let Machine { stored, .. } = machine;
    let rows = stored.look(stored.store.list(&Default::default()));
    let is_whole = |row: &Row| !is_part(row);
    let row = rows.ok()?.into_iter().flatten().rfind(is_whole)?;
    Some((row.id, records(machine, row.id)?))
}

/// The parts of an execution's loops, with their records.
pub(crate) fn parts(machine: &Machine, of: ExecutionId) -> Vec<(ExecutionId, Vec<Record>)> {
    let query = ListQuery {
        copied_from: Some(of),
        ..ListQuery::default()
    };
    let Machine { stored, .. } = machine;
    let rows = stored
        .look(stored.store.list(&query))
        .into_iter()
        .flatten()
        .flatten();
    rows.filter(is_part)
        .filter_map(|row| Some((row.id, records(machine, row.id)?)))
        .collect()
}

/// The signals that were sent to an execution and not taken.
fn untaken(machine: &Machine, id: ExecutionId) -> Vec<SignalRow> {
    let Machine { stored, .. } = machine;
    stored.look(stored.store.signals(id)).unwrap_or_default()
}

fn is_part(row: &Row) -> bool {
    row.flow.contains('.')
}

fn records(machine: &Machine, id: ExecutionId) -> Option<Vec<Record>> {
    let Machine { stored, .. } = machine;
    stored.look(stored.store.records(id, 0, usize::MAX)).ok()
}
