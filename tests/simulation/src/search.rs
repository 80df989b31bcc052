//! Makes cases, runs many of them, and makes those that fail as small as they can be.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::case::{Case, Fault, Mode, What, When};
use crate::flows::FLOWS;
use crate::run::{Report, run};
use crate::world::{Violation, hash_of, world};

/// How many disturbed cases there are for each undisturbed one.
const DISTURBED: u64 = 9;

/// For how long a case may run, in real time, before it counts as one that hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// A case that broke a law.
#[derive(Debug, Clone)]
pub struct Failure {
    law: &'static str,
    case: Case,
    text: String,
    times: u64,
}

/// What a search came to.
#[derive(Debug, Default)]
pub struct Found {
    /// How many cases were run.
    pub cases: u64,
    /// By law.
    pub failures: BTreeMap<&'static str, Failure>,
    /// Violations that are known: how often each was seen.
    pub known: BTreeMap<String, u64>,
    /// How long it took.
    pub took: Duration,
    /// After how long the first failure was found.
    pub first: Option<Duration>,
}

/// Numbers one after the other.
struct Dice(u64, u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.1 += 1;
        (hash_of(&[self.0, self.1]) >> 9) % limit.max(1)
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}

/// The undisturbed case of a group.
fn undisturbed(seed: u64, group: u64) -> Case {
    let mut dice = Dice(hash_of(&[seed, group]), 0);
    let flow = dice.below(FLOWS.len() as u64) as usize;
    let mut case = Case::calm(flow, dice.below(1_000_000));
    case.mode = match (FLOWS[flow].tight, dice.below(4)) {
        (false, 0 | 1) => Mode::Calm,
        (_, 2) => Mode::Fickle,
        _ => Mode::Wild,
    };
    case.trouble = dice.pick(&[0, 8, 20, 35, 50]);
    if case.mode != Mode::Calm && dice.below(5) == 0 {
        case.at_once = 1 + dice.below(3) as usize;
    }
    case
}

/// A case in which something goes wrong.
fn disturbed(from: &Case, report: &Report, number: u64) -> Case {
    let mut dice = Dice(hash_of(&[from.seed, from.flow as u64, number, 5]), 0);
    let mut case = from.clone();
    case.yields = dice.below(2) == 0;
    case.latency = dice.pick(&[0, 0, 1, 2]);
    case.snapshots = dice.pick(&[0, 0, 1, 2, 3, 5, 9]);
    case.prune = case.snapshots > 0 && dice.below(3) == 0;
    let calls = report.calls.first().copied().unwrap_or(10) + 4;
    let took = report.took_ms.min(20_000) + 50;
    let faults = dice.pick(&[1, 1, 1, 2, 2, 3, 4]);
    let mut life = 0;
    for number in 0..faults {
        let early = if number == 0 { 1 } else { 1 + dice.below(3) };
        let (when, what) = match dice.below(10) {
            0..7 => {
                let whats = [
                    What::CrashBefore,
                    What::CrashAfter,
                    What::CrashBefore,
                    What::CrashAfter,
                    What::FailBefore,
                    What::FailAfter,
                    What::FreezeBefore,
                    What::FreezeAfter,
                ];
                (When::Call(dice.below(calls / early + 4)), dice.pick(&whats))
            }
            _ => {
                let whats = [
                    What::Crash,
                    What::Crash,
                    What::Freeze,
                    What::ShutDown,
                    What::ShutDown,
                    What::Twin,
                    What::Cancel,
                ];
                (When::Time(dice.below(took / early)), dice.pick(&whats))
            }
        };
        case.faults.push(Fault { life, when, what });
        // Some fail several times, and some are followed by others.
        if !matches!(what, What::FailBefore | What::FailAfter | What::Cancel) || dice.below(2) == 0
        {
            life += 1;
        }
    }
    if dice.below(3) == 0 {
        case.fork = Some(dice.below(report.history.len() as u64));
    }
    case
}

/// What each thread is at, and since when.
type Under = Mutex<Option<(Instant, String)>>;

/// Runs about so many cases on so many threads, or only until one of them fails.
pub fn search(seed: u64, cases: u64, threads: usize, until_failure: bool) -> Found {
    quiet_panics();
    let began = Instant::now();
    let groups = cases.div_ceil(DISTURBED + 1);
    let (next, done) = (AtomicU64::new(0), AtomicU64::new(0));
    let found = Mutex::new(Found::default());
    let under: Vec<Under> = (0..threads).map(|_| Mutex::default()).collect();
    let finished = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let workers: Vec<_> = under
            .iter()
            .map(|under| {
                let (next, done, found) = (&next, &done, &found);
                scope.spawn(move || {
                    loop {
                        let group = next.fetch_add(1, Ordering::Relaxed);
                        if group >= groups || (until_failure && has_failed(found)) {
                            return;
                        }
                        let case = undisturbed(seed, group);
                        let base = watched(under, &case, None);
                        note(found, &case, &base, began);
                        for number in 0..DISTURBED {
                            if until_failure && has_failed(found) {
                                return;
                            }
                            let case = disturbed(&case, &base, number);
                            let report = watched(under, &case, Some(&base));
                            note(found, &case, &report, began);
                        }
                        done.fetch_add(DISTURBED + 1, Ordering::Relaxed);
                    }
                })
            })
            .collect();
        scope.spawn(|| {
            while !finished.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(50));
                for under in &under {
                    let under = under.lock().unwrap_or_else(PoisonError::into_inner);
                    if let Some((since, case)) = &*under
                        && since.elapsed() > PATIENCE
                    {
                        println!("a case hangs without end: {}", command(case));
                        std::process::exit(2);
                    }
                }
            }
        });
        for worker in workers {
            let _ = worker.join();
        }
        finished.store(true, Ordering::Relaxed);
    });
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.cases = done.into_inner();
    found.took = began.elapsed();
    found
}

fn has_failed(found: &Mutex<Found>) -> bool {
    let found = found.lock().unwrap_or_else(PoisonError::into_inner);
    !found.failures.is_empty()
}

fn watched(under: &Under, case: &Case, base: Option<&Report>) -> Report {
    *under.lock().unwrap_or_else(PoisonError::into_inner) =
        Some((Instant::now(), case.to_string()));
    let report = run(case, base, false);
    *under.lock().unwrap_or_else(PoisonError::into_inner) = None;
    report
}

fn note(found: &Mutex<Found>, case: &Case, report: &Report, began: Instant) {
    if report.violations.is_empty() && report.known.is_empty() {
        return;
    }
    let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
    for Violation { law, text } in &report.known {
        let kind = text.split(':').next().unwrap_or_default();
        *found.known.entry(format!("{law}: {kind}")).or_default() += 1;
    }
    for Violation { law, text } in &report.violations {
        found.first.get_or_insert(began.elapsed());
        let failure = found.failures.entry(law).or_insert_with(|| Failure {
            law,
            case: case.clone(),
            text: text.clone(),
            times: 0,
        });
        failure.times += 1;
        if case.faults.len() < failure.case.faults.len() {
            failure.case = case.clone();
            failure.text.clone_from(text);
        }
    }
}

/// A panic anywhere is a violation of the case under way.
fn quiet_panics() {
    std::panic::set_hook(Box::new(|info| match world() {
        Some(world) => world.violated("no panic", info.to_string()),
        None => eprintln!("{info}"),
    }));
}

/// The command that repeats a case.
fn command(case: &str) -> String {
    format!("cargo run -p flow-simulation -- --case '{case}'")
}

/// Runs a case, and the undisturbed one before it if that says what to expect.
fn run_whole(case: &Case, traced: bool) -> Report {
    let base = (case.mode == Mode::Calm && case.at_once == 0 && case.undisturbed() != *case)
        .then(|| run(&case.undisturbed(), None, false));
    run(case, base.as_ref(), traced)
}

impl Failure {
    fn is_in(&self, case: &Case) -> Option<Report> {
        let report = run_whole(case, false);
        report
            .violations
            .iter()
            .any(|violation| violation.law == self.law)
            .then_some(report)
    }

    /// Makes the case smaller as long as it breaks the law.
    pub fn shrink(&mut self, time: Duration) {
        let began = Instant::now();
        while let Some(smaller) = self.smaller() {
            self.case = smaller;
            if began.elapsed() > time {
                return;
            }
        }
        self.try_smaller_flows(began, time);
        while let Some(smaller) = self.smaller() {
            self.case = smaller;
            if began.elapsed() > time {
                return;
            }
        }
    }

    fn smaller(&self) -> Option<Case> {
        let case = &self.case;
        let mut all = Vec::new();
        for index in 0..case.faults.len() {
            let mut less = case.clone();
            less.faults.remove(index);
            all.push(less);
        }
        all.push(Case {
            fork: None,
            ..case.clone()
        });
        all.push(Case {
            yields: false,
            ..case.clone()
        });
        all.push(Case {
            latency: 0,
            ..case.clone()
        });
        all.push(Case {
            prune: false,
            ..case.clone()
        });
        all.push(Case {
            snapshots: 0,
            prune: false,
            ..case.clone()
        });
        all.push(Case {
            at_once: 0,
            ..case.clone()
        });
        all.push(Case {
            trouble: 0,
            ..case.clone()
        });
        if case.trouble > 8 {
            all.push(Case {
                trouble: 8,
                ..case.clone()
            });
        }
        if !FLOWS[case.flow].tight {
            let mode = match case.mode {
                Mode::Fickle => Mode::Wild,
                _ => Mode::Calm,
            };
            all.push(Case {
                mode,
                ..case.clone()
            });
        }
        all.into_iter()
            .filter(|smaller| smaller != case)
            .find(|smaller| self.is_in(smaller).is_some())
    }

    /// Looks for the same in flows with fewer nodes, and in runs with fewer records.
    fn try_smaller_flows(&mut self, began: Instant, time: Duration) {
        let mut order: Vec<usize> = (0..FLOWS.len()).collect();
        order.sort_by_key(|flow| FLOWS[*flow].size);
        let mut best: Option<(usize, Case)> = None;
        for flow in order {
            let size = FLOWS[flow].size;
            if size > FLOWS[self.case.flow].size
                || (FLOWS[flow].tight && self.case.mode == Mode::Calm)
            {
                continue;
            }
            for seed in 0..24 {
                if began.elapsed() > time {
                    break;
                }
                let mut case = Case {
                    flow,
                    seed,
                    ..self.case.clone()
                };
                let base = run(&case.undisturbed(), None, false);
                let mut dice = Dice(hash_of(&[seed, flow as u64]), 0);
                for fault in &mut case.faults {
                    fault.when = match fault.when {
                        When::Call(_) => {
                            When::Call(dice.below(base.calls.first().copied().unwrap_or(9) + 4))
                        }
                        When::Time(_) => When::Time(dice.below(base.took_ms.min(20_000) + 50)),
                    };
                }
                if case.fork.is_some() {
                    case.fork = Some(dice.below(base.history.len() as u64));
                }
                if let Some(report) = self.is_in(&case) {
                    let length = report.history.len() + report.runs;
                    if best.as_ref().is_none_or(|(shortest, _)| length < *shortest) {
                        best = Some((length, case));
                    }
                }
            }
            if best.is_some() {
                break;
            }
        }
        if let Some((_, case)) = best {
            self.case = case;
        }
    }
}

/// What happens in a case, and how to repeat it.
pub fn told(case: &str, with_source: bool) -> Result<(String, bool), String> {
    quiet_panics();
    let mut case: Case = case.parse()?;
    if case.flow >= FLOWS.len() {
        return Err(format!("there are {} flows", FLOWS.len()));
    }
    case.verbose = with_source;
    let report = run_whole(&case, true);
    let mut text = String::new();
    let entry = &FLOWS[case.flow];
    let _ = writeln!(
        text,
        "{case}\nthe flow {} of {} nodes",
        entry.name, entry.size
    );
    for line in &report.trace {
        let _ = writeln!(text, "{line}");
    }
    let _ = writeln!(text, "journal:");
    for record in &report.history {
        let _ = writeln!(
            text,
            "{:>4} {:>8} {} {} {}",
            record.seq,
            record.at_ms - crate::world::BEGAN_MS,
            record.kind,
            record.step,
            record.payload
        );
    }
    let _ = writeln!(
        text,
        "ends as {:?} after {} processes",
        report.ending, report.lives
    );
    for Violation { law, text: what } in &report.known {
        let _ = writeln!(text, "known: {law}: {what}");
    }
    for Violation { law, text: what } in &report.violations {
        let _ = writeln!(text, "VIOLATION: {law}: {what}");
    }
    Ok((text, report.violations.is_empty()))
}

impl Found {
    /// A page about it, with the failures made small, and whether there are none.
    pub fn told(&mut self, shrink_for: Duration) -> (String, bool) {
        let mut text = String::new();
        for failure in self.failures.values_mut() {
            failure.shrink(shrink_for);
            let command = command(&failure.case.to_string());
            let _ = writeln!(
                text,
                "\n{} (in {} cases), such as: {}\n  {command}",
                failure.law, failure.times, failure.text
            );
        }
        for (what, times) in &self.known {
            let _ = writeln!(text, "known: {what}: {times} times");
        }
        let per_second = self.cases as f64 / self.took.as_secs_f64();
        let _ = write!(
            text,
            "{} cases in {:.1} s, {per_second:.0} a second",
            self.cases,
            self.took.as_secs_f64()
        );
        if let Some(first) = self.first {
            let _ = write!(
                text,
                "; the first failure after {:.1} s",
                first.as_secs_f64()
            );
        }
        (text, self.failures.is_empty())
    }
}
