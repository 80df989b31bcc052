//! A process dies before or after each call of the store that it makes, and others go on.
//!
//! A sample of the points is part of the tests. All of them, with snapshots seldom, often, and with
//! a pruned history, and with a second death after each first one: `SWEEP=all cargo test -p
//! flow-survivor --test processes -- --nocapture a_death_at_a_call`, which takes a quarter of an
//! hour for each store (`..._of_the_store`, `..._of_postgres`, `..._of_redis`). `SWEEP_FLOW=forks`
//! takes one of the flows, and `KEEP=folder` keeps the database (of Postgres a dump) and the effects
//! of points where something is wrong.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::scope;

use flow_survivor::mortal::Moment;
use serde_json::Value;

use crate::database::Server;
use crate::grave::{Grave, recorded, texts};
use crate::support::Outcome;
use crate::verdict::{Found, judge_answers, judge_contents, judge_ledger};

/// The flows, and how many of their steps can be under way at once.
pub(crate) const FLOWS: [(&str, usize); 12] = [
    ("rounds", 1),
    ("forks", 3),
    ("fails", 2),
    ("items", 3),
    ("tries", 1),
    ("impatient", 1),
    ("nested", 1),
    ("waits", 1),
    ("party", 1),
    ("interview", 2),
    ("parts", 7),
    ("ledger", 2),
];

/// After how many records a snapshot is made, and whether those before are removed then.
pub(crate) const MODES: [&[&str]; 3] = [&["256"], &["4"], &["3", "prune"]];

/// Processes at once: most of the time they wait.
pub(crate) const AT_ONCE: usize = 6;

/// The processes of a point note what they do in one file.
const ALL: &str = "effects";

/// What a flow comes to if nothing dies.
pub(crate) struct Undisturbed {
    pub(crate) flow: &'static str,
    at_once: usize,
    pub(crate) mode: &'static [&'static str],
    pub(crate) calls: u64,
    pub(crate) seen: Value,
    pub(crate) server: Server,
}

/// Where processes die, one after the other. The last one lives.
struct Point<'a> {
    undisturbed: &'a Undisturbed,
    deaths: Vec<Moment>,
}

impl fmt::Display for Point<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Undisturbed { flow, mode, .. } = self.undisturbed;
        write!(f, "{flow} {}", mode.join(" "))?;
        self.deaths
            .iter()
            .try_for_each(|death| write!(f, ", {death}"))
    }
}

impl Undisturbed {
    pub(crate) fn run(
        flow: &'static str,
        at_once: usize,
        mode: &'static [&'static str],
        server: Server,
    ) -> Outcome<Self> {
        let grave = Grave::new(server)?;
        let output = grave.live(ALL, flow, mode, None)?;
        if !output.status.success() {
            return Err(format!("{flow} {mode:?} undisturbed: {}", texts(&output)).into());
        }
        let said: Value = serde_json::from_slice(&output.stdout)?;
        Ok(Undisturbed {
            flow,
            at_once,
            mode,
            calls: said["calls"].as_u64().ok_or("no number of calls")?,
            seen: said["seen"].clone(),
            server,
        })
    }
}

impl Point<'_> {
    /// Lets processes die and the last one live, and adds what is wrong then.
    fn visit(&self, found: &mut Found) -> Outcome {
        let Undisturbed { flow, mode, .. } = self.undisturbed;
        let grave = Grave::new(self.undisturbed.server)?;
        let mut wrong = Vec::new();
        let mut lives = Vec::new();
        let mut lines = 0;
        for death in self.deaths.iter().copied().map(Some).chain([None]) {
            // Whoever comes first finds nothing, not even the tables.
            let contents = if lives.is_empty() {
                Vec::new()
            } else {
                grave.stored_when_free()?
            };
            let recorded = recorded(&contents);
            let output = grave.live(ALL, flow, mode, death)?;
            let all = grave.lines(ALL)?;
            lives.push([recorded, all[lines..].to_vec()].concat());
            lines = all.len();
            let died = output.status.signal() == Some(6);
            found.deaths += usize::from(died);
            if died && death.is_some() {
                continue;
            }
            if !output.status.success() {
                wrong.push(texts(&output));
                break;
            }
            let said: Value = serde_json::from_slice(&output.stdout)?;
            if said["seen"] != self.undisturbed.seen {
                let (seen, expected) = (&said["seen"], &self.undisturbed.seen);
                wrong.push(format!("came to {seen}\n    instead of {expected}"));
            }
        }
        let contents = grave.database().contents()?;
        // A server may commit what a process had sent before it died when the next one has begun.
        lives.push(recorded(&contents));
        self.judge(&lives, found, &mut wrong);
        if *flow == "ledger" {
            let is_pruned = mode.contains(&"prune");
            judge_ledger(&grave, &contents, &lives, is_pruned, found, &mut wrong)?;
        }
        judge_contents(&contents, &mut wrong);
        wrong.extend(grave.database().damage()?);
        judge_answers(&lives, found, &mut wrong)?;
        found.points += 1;
        if !wrong.is_empty() {
            let text = format!("{self}:\n  {}", wrong.join("\n  "));
            println!("{text}");
            if let Some(kept) = std::env::var_os("KEEP") {
                let name = self.to_string().replace([' ', ','], "-");
                grave.keep(&Path::new(&kept).join(name))?;
            }
            found.violations.push(text);
        }
        Ok(())
    }

    /// What was recorded before each life, and what the steps and the store have noted in it.
    fn judge(&self, lives: &[Vec<Value>], found: &mut Found, wrong: &mut Vec<String>) {
        let mut recorded: BTreeSet<&str> = BTreeSet::new();
        let mut inputs: BTreeMap<&str, &Value> = BTreeMap::new();
        let mut before: BTreeSet<&str> = BTreeSet::new();
        for lines in lives {
            let mut again = BTreeSet::new();
            let mut begun = Vec::new();
            for line in lines {
                if let Some(step) = line["recorded"].as_str() {
                    recorded.insert(step);
                }
                let Some(step) = line["began"].as_str() else {
                    continue;
                };
                if recorded.contains(step) {
                    wrong.push(format!("{step} was recorded, and ran again"));
                }
                let first = *inputs.entry(step).or_insert(&line["inputs"]);
                if *first != line["inputs"] {
                    let other = &line["inputs"];
                    wrong.push(format!("{step} saw {first}, and {other} then"));
                }
                if before.contains(step) {
                    again.insert(step);
                }
                begun.push(step);
            }
            if again.len() > self.undisturbed.at_once {
                wrong.push(format!("more ran again than can be under way: {again:?}"));
            }
            found.reruns += again.len();
            before.extend(begun);
        }
    }
}

/// All points of a flow: before and after each call, and the same with a second death if there is to be one.
fn points(undisturbed: &Undisturbed, twice: bool) -> Vec<Point<'_>> {
    let calls = 1..=undisturbed.calls;
    let deaths = calls.flat_map(|call| [Moment::Before(call), Moment::After(call)]);
    let points = deaths.flat_map(|death| {
        // The second process has less to do.
        let call = fastrand::u64(1..=undisturbed.calls / 2);
        let second = if fastrand::bool() {
            Moment::Before(call)
        } else {
            Moment::After(call)
        };
        let once = Point {
            undisturbed,
            deaths: vec![death],
        };
        let twice = twice.then(|| Point {
            undisturbed,
            deaths: vec![death, second],
        });
        [Some(once), twice].into_iter().flatten()
    });
    points.collect()
}

#[test]
fn a_death_at_a_call_of_the_store_changes_nothing() -> Outcome {
    sweep(Server::Sqlite, 24)
}

#[test]
fn a_death_at_a_call_of_postgres_changes_nothing() -> Outcome {
    Server::postgres().map_or(Ok(()), |server| sweep(server, 5))
}

#[test]
fn a_death_at_a_call_of_redis_changes_nothing() -> Outcome {
    Server::redis().map_or(Ok(()), |server| sweep(server, 5))
}

/// Visits so many points of each flow, or all.
fn sweep(server: Server, sample: usize) -> Outcome {
    let all = std::env::var("SWEEP").is_ok_and(|sweep| sweep == "all");
    let only = std::env::var("SWEEP_FLOW").ok();
    let undisturbed = undisturbed(server, all, only.as_deref())?;
    let mut points: Vec<Point<'_>> = undisturbed
        .iter()
        .flat_map(|undisturbed| {
            let mut points = points(undisturbed, true);
            if !all {
                fastrand::shuffle(&mut points);
                points.truncate(sample);
            }
            points
        })
        .collect();
    fastrand::shuffle(&mut points);

    let found = visit_all(&points)?;
    let sum = |of: fn(&Found) -> usize| found.iter().map(of).sum::<usize>();
    let violations: Vec<&String> = found.iter().flat_map(|found| &found.violations).collect();
    println!(
        "{}: {} points, {} deaths, {} steps under way ran again, {} answers, {} rows, {} violations",
        server.name(),
        sum(|found| found.points),
        sum(|found| found.deaths),
        sum(|found| found.reruns),
        sum(|found| found.answers),
        sum(|found| found.postings),
        violations.len()
    );
    assert!(violations.is_empty(), "{} violations", violations.len());
    assert!(sum(|found| found.reruns) > 0, "no death hit a step");
    assert!(sum(|found| found.deaths) > points.len() / 2, "few died");
    let ledger = server.has_transactions() && only.as_deref().is_none_or(|only| only == "ledger");
    assert!(
        !ledger || sum(|found| found.postings) > 0,
        "nothing was posted"
    );
    Ok(())
}

/// What the flows come to if nothing dies: each in one of the modes, or in all of them.
fn undisturbed(server: Server, all: bool, only: Option<&str>) -> Outcome<Vec<Undisturbed>> {
    let mut undisturbed = Vec::new();
    for (index, (flow, at_once)) in FLOWS.into_iter().enumerate() {
        for (number, mode) in MODES.into_iter().enumerate() {
            let wanted = only.is_none_or(|only| only == flow)
                && (flow != "ledger" || server.has_transactions());
            if wanted && (all || number == index % MODES.len()) {
                undisturbed.push(Undisturbed::run(flow, at_once, mode, server)?);
            }
        }
    }
    Ok(undisturbed)
}

/// Visits points, several at once, and returns what each thread has found.
fn visit_all(points: &[Point<'_>]) -> Outcome<Vec<Found>> {
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    scope(|threads| -> Outcome {
        let work = || -> Outcome {
            let mut mine = Found::default();
            while let Some(point) = points.get(next.fetch_add(1, Ordering::Relaxed)) {
                point.visit(&mut mine)?;
            }
            found.lock().map_err(|_| "a thread panicked")?.push(mine);
            Ok(())
        };
        let threads: Vec<_> = (0..AT_ONCE).map(|_| threads.spawn(work)).collect();
        for thread in threads {
            thread.join().map_err(|_| "a thread panicked")??;
        }
        Ok(())
    })?;
    Ok(found.into_inner()?)
}
