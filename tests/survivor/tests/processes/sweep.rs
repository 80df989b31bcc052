//! A process dies before or after each call of the store that it makes, and others go on.
//!
//! A sample of the points is part of the tests. All of them, with snapshots seldom, often, and with
//! a pruned history, and with a second death after each first one: `SWEEP=all cargo test -p
//! flow-survivor --test processes -- --nocapture a_death_at_a_call`, which takes a quarter of an
//! hour. `SWEEP_FLOW=forks` takes one of the flows, and `KEEP=folder` keeps the database and the
//! effects of points where something is wrong.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::thread::scope;

use flow_services::Postgres;
use flow_survivor::mortal::Moment;
use serde_json::Value;

use crate::grave::{Grave, texts};
use crate::support::Outcome;

/// The flows, and how many of their steps can be under way at once.
pub(crate) const FLOWS: [(&str, usize); 11] = [
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
    server: Option<&'static Postgres>,
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

/// What was found at points.
#[derive(Default)]
struct Found {
    points: usize,
    deaths: usize,
    reruns: usize,
    answers: usize,
    postings: usize,
    violations: Vec<String>,
}

impl Undisturbed {
    pub(crate) fn run(
        flow: &'static str,
        at_once: usize,
        mode: &'static [&'static str],
        server: Option<&'static Postgres>,
    ) -> Outcome<Self> {
        let grave = Grave::at(server)?;
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
        let grave = Grave::at(self.undisturbed.server)?;
        let mut wrong = Vec::new();
        let mut lives = Vec::new();
        let mut lines = 0;
        for death in self.deaths.iter().copied().map(Some).chain([None]) {
            let recorded = grave.recorded()?;
            grave.until_free()?;
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
        self.judge(&lives, found, &mut wrong);
        if *flow == "ledger" {
            let is_pruned = mode.contains(&"prune");
            judge_ledger(&grave, &lives, is_pruned, found, &mut wrong)?;
        }
        judge_database(&grave, &lives, found, &mut wrong)?;
        found.points += 1;
        if !wrong.is_empty() {
            let text = format!("{self}:\n  {}", wrong.join("\n  "));
            println!("{text}");
            if let Some(kept) = std::env::var_os("KEEP") {
                let to = Path::new(&kept).join(self.to_string().replace([' ', ','], "-"));
                fs::create_dir_all(&to)?;
                fs::copy(grave.effects(ALL), to.join("effects"))?;
                if grave.is_file() {
                    fs::copy(grave.database(), to.join("sweep.db"))?;
                }
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

/// What the steps have written to the table of their own, in the transactions of their outcomes.
fn judge_ledger(
    grave: &Grave,
    lives: &[Vec<Value>],
    is_pruned: bool,
    found: &mut Found,
    wrong: &mut Vec<String>,
) -> Outcome {
    let lines = || lives.iter().flatten();
    let steps = |what: &str| -> BTreeSet<String> {
        let steps = lines().filter_map(|line| line[what].as_str());
        steps.map(str::to_owned).collect()
    };
    let (posts, recorded) = (steps("posts"), steps("recorded"));
    let in_vain = |step: &str| step.contains("post_in_vain");
    let mut rows = BTreeMap::new();
    for row in grave.query("SELECT step, CAST(count(*) AS TEXT) FROM postings GROUP BY step")? {
        let [Some(step), Some(count)] = &row[..] else {
            return Err(format!("{row:?} is no row").into());
        };
        rows.insert(step.clone(), count.clone());
    }
    for step in posts.intersection(&recorded) {
        let count = rows.get(step).map_or("0", String::as_str);
        let expected = if in_vain(step) { "0" } else { "1" };
        if count != expected {
            wrong.push(format!(
                "{step} is recorded, and in the table {count} times"
            ));
        }
        found.postings += usize::from(!in_vain(step));
    }
    let doubled = rows.iter().filter(|(_, count)| *count != "1");
    wrong.extend(doubled.map(|(step, count)| format!("{step} is in the table {count} times")));
    // A record that is pruned by the write that adds it is nowhere if its process dies then.
    if !is_pruned {
        let lost = rows.keys().filter(|step| !recorded.contains(*step));
        wrong.extend(lost.map(|step| format!("{step} is in the table, and not recorded")));
    }
    let all = "SELECT e.id || ' has ' || count(p.step) FROM executions e LEFT JOIN postings p ON p.step LIKE e.id || '/%' \
         WHERE e.copied_from IS NULL GROUP BY e.id HAVING count(p.step) <> 7";
    for row in grave.query(all)? {
        wrong.push(format!("rows are missing: {row:?}"));
    }
    Ok(())
}

/// What the database says in the end.
fn judge_database(
    grave: &Grave,
    lives: &[Vec<Value>],
    found: &mut Found,
    wrong: &mut Vec<String>,
) -> Outcome {
    if grave.is_file() {
        let sound = grave.query("PRAGMA quick_check")?;
        if sound != [[Some("ok".to_owned())]] {
            wrong.push(format!("the file is damaged: {sound:?}"));
        }
    }
    let cases = [
        (
            "an execution is not over",
            "SELECT id || ' ' || status FROM executions WHERE status NOT IN ('completed', 'failed') OR holder IS NOT NULL",
        ),
        (
            "a question is open",
            "SELECT token || ' ' || step FROM pauses WHERE state IN ('open', 'answered', 'timed_out')",
        ),
        (
            "a step is recorded twice",
            "SELECT execution || '/' || step FROM records WHERE kind IN ('outcome', 'node_failed', 'resumed') \
             GROUP BY execution, step HAVING count(*) > 1",
        ),
        (
            "a replay is recorded",
            "SELECT execution || '/' || step || ' ' || kind FROM records \
             WHERE kind NOT IN ('attempt_failed', 'snapshot') GROUP BY execution, step, kind HAVING count(*) > 1",
        ),
        (
            "the failure of a flow is recorded twice",
            "SELECT a.execution || '/' || a.step || ' ' || a.attempt FROM records a WHERE a.kind = 'attempt_failed' \
             AND EXISTS (SELECT 1 FROM records f WHERE f.execution = a.execution AND f.kind IN ('flow_failed', 'timed_out') \
             AND f.step = a.step || CASE WHEN a.attempt = 0 THEN '' ELSE '~' || a.attempt END) \
             GROUP BY a.execution, a.step, a.attempt HAVING count(*) > 1",
        ),
        (
            "a record is missing",
            "SELECT e.id || ' ' || e.next_seq FROM executions e JOIN records r ON r.execution = e.id \
             GROUP BY e.id HAVING max(r.seq) + 1 <> e.next_seq OR max(r.seq) - min(r.seq) + 1 <> count(*)",
        ),
        (
            "a run does not end with its end",
            "SELECT r.execution || ' ' || r.kind FROM records r JOIN executions e ON e.id = r.execution \
             WHERE r.seq = e.next_seq - 1 AND r.kind NOT IN ('run_completed', 'run_failed')",
        ),
    ];
    for (what, sql) in cases {
        for row in grave.query(sql)? {
            wrong.push(format!("{what}: {row:?}"));
        }
    }

    // An answer that was accepted is what a step saw, unless the flow that asked took too long
    // meanwhile.
    let lines: Vec<&Value> = lives.iter().flatten().collect();
    let seen: Vec<String> = lines
        .iter()
        .filter(|line| line["began"].is_string())
        .map(|line| line["inputs"].to_string())
        .collect();
    let timed_out: BTreeSet<&str> = lines
        .iter()
        .filter_map(|line| line["timed_out"].as_str())
        .collect();
    let took_too_long = |step: &str| {
        let inside = |flow: &&str| {
            let rest = step.strip_prefix(*flow);
            rest.is_some_and(|rest| rest.starts_with(['.', '~']))
        };
        timed_out.iter().any(inside)
    };
    let answers = grave
        .query("SELECT answer, execution || '/' || step FROM pauses WHERE answer IS NOT NULL")?;
    let mut given = BTreeSet::new();
    for row in answers {
        let [Some(answer), Some(step)] = &row[..] else {
            return Err(format!("{row:?} is no answer").into());
        };
        found.answers += 1;
        let by = signature(&serde_json::from_str(answer)?).ok_or("an answer is not signed")?;
        if !took_too_long(step) && !seen.iter().any(|inputs| inputs.contains(&by)) {
            wrong.push(format!(
                "the answer {answer} to {step} was accepted, and nobody saw it"
            ));
        }
        given.insert(by);
    }
    for line in lines {
        if let Some(by) = line["accepted"].as_str()
            && !given.contains(by)
        {
            wrong.push(format!("the answer {by} was accepted, and is not stored"));
        }
    }
    Ok(())
}

/// Which answer it was.
fn signature(answer: &Value) -> Option<String> {
    match answer {
        Value::Object(map) => match map.get("by") {
            Some(Value::String(by)) => Some(by.clone()),
            _ => map.values().find_map(signature),
        },
        _ => None,
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
    sweep(None, 24)
}

/// The same on a server. The flow `ledger` writes in the transactions of SQLite, and the timeouts of
/// `impatient` are shorter than a busy server may take.
#[test]
fn a_death_at_a_call_of_postgres_changes_nothing() -> Outcome {
    static SERVER: OnceLock<Option<Postgres>> = OnceLock::new();
    match SERVER.get_or_init(Postgres::start) {
        Some(server) => sweep(Some(server), 5),
        None => Ok(()),
    }
}

/// Visits so many points of each flow, or all.
fn sweep(server: Option<&'static Postgres>, sample: usize) -> Outcome {
    let all = std::env::var("SWEEP").is_ok_and(|sweep| sweep == "all");
    let only = std::env::var("SWEEP_FLOW").ok();
    let mut undisturbed = Vec::new();
    for (index, (flow, at_once)) in FLOWS.into_iter().enumerate() {
        for (number, mode) in MODES.into_iter().enumerate() {
            let wanted = only.as_deref().is_none_or(|only| only == flow)
                && (server.is_none() || !["impatient", "ledger"].contains(&flow));
            if wanted && (all || number == index % MODES.len()) {
                undisturbed.push(Undisturbed::run(flow, at_once, mode, server)?);
            }
        }
    }
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
    let found = found.into_inner()?;
    let sum = |of: fn(&Found) -> usize| found.iter().map(of).sum::<usize>();
    let violations: Vec<&String> = found.iter().flat_map(|found| &found.violations).collect();
    println!(
        "{} points, {} deaths, {} steps under way ran again, {} answers, {} rows, {} violations",
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
    let ledger = server.is_none() && only.as_deref().is_none_or(|only| only == "ledger");
    assert!(
        !ledger || sum(|found| found.postings) > 0,
        "nothing was posted"
    );
    Ok(())
}
