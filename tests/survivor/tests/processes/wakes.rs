//! A process is stopped before or after a call of the store, until its lease is over and another
//! one has done all that there was to do. When it goes on, it writes nothing and begins no step.
//!
//! What it was stopped at, it sees the answer of: so it goes on as if no time had gone by, unless
//! it looks at its clocks.

use std::collections::BTreeSet;
use std::process::Child;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{scope, sleep};
use std::time::Duration;

use flow_survivor::mortal::Moment;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::database::Server;
use crate::grave::{Grave, ended, texts};
use crate::support::{Outcome, is_stopped};
use crate::sweep::{AT_ONCE, FLOWS, MODES, Undisturbed};

/// How many processes are stopped while they hold a lease, unless `STOPS` says so:
/// `STOPS=100 cargo test -p flow-survivor --test processes -- --nocapture was_stopped`. `SWEEP_FLOW`
/// takes one of the flows.
const STOPS: usize = 40;

const SLEEPER: &str = "sleeper";
const SUCCESSOR: &str = "successor";

/// Lets a process go on that may not have been stopped yet.
fn wake(mut child: Child) -> Outcome<std::process::Output> {
    while child.try_wait()?.is_none() {
        if is_stopped(&child)? {
            // Nobody has taken its end, so its id is still its own.
            kill_process(Pid::from_child(&child), Signal::CONT)?;
        }
        sleep(Duration::from_millis(20));
    }
    ended(child)
}

/// Stops a process there. Whether it had a lease then; what is wrong with what it does when it goes on.
fn stop(undisturbed: &Undisturbed, moment: Moment) -> Outcome<(bool, Vec<String>)> {
    let Undisturbed { flow, mode, .. } = undisturbed;
    let grave = Grave::new(undisturbed.server)?;
    let mut sleeper = grave.spawn(SLEEPER, flow, mode, Some(("STOP", moment)))?;
    let stops = |line: &Value| line["stops"] == true;
    while !grave.lines(SLEEPER)?.iter().any(stops) || !is_stopped(&sleeper)? {
        if sleeper.try_wait()?.is_some() {
            // This time there were fewer calls.
            return Ok((false, Vec::new()));
        }
        sleep(Duration::from_millis(1));
    }
    if !grave.database().can_be_written()? {
        // It was writing something else, and is in the way of everybody.
        wake(sleeper)?;
        return Ok((false, Vec::new()));
    }
    let stored = grave.database().contents()?;
    let had_lease = stored.iter().any(|stored| stored.claim.is_some());
    grave.stored_when_free()?;
    let successor = grave.live(SUCCESSOR, flow, mode, None)?;
    let before = grave.database().contents()?;
    let sleeper = wake(sleeper)?;
    let after = grave.database().contents()?;

    let mut wrong = Vec::new();
    for (who, output) in [("successor", successor), ("sleeper", sleeper)] {
        let said = serde_json::from_slice::<Value>(&output.stdout);
        match said {
            Ok(said) if output.status.success() => {
                if said["seen"] != undisturbed.seen {
                    wrong.push(format!("the {who} came to {}", said["seen"]));
                }
            }
            _ => wrong.push(format!("the {who}: {}", texts(&output))),
        }
    }
    // What it starts itself is another matter.
    let known: BTreeSet<String> = before.iter().map(|it| it.row.id.to_string()).collect();
    let mut kept = after;
    kept.retain(|stored| known.contains(&stored.row.id.to_string()));
    if before != kept {
        let late: Vec<_> = kept.iter().filter(|it| !before.contains(it)).collect();
        wrong.push(format!("it wrote: {late:?}"));
    }
    let lines = grave.lines(SLEEPER)?;
    let awake = lines.iter().skip_while(|line| !stops(line));
    for step in awake.filter_map(|line| line["began"].as_str()) {
        if step.split('/').next().is_some_and(|id| known.contains(id)) {
            wrong.push(format!("it began {step}"));
        }
    }
    Ok((had_lease, wrong))
}

#[test]
fn a_process_that_was_stopped_begins_nothing_when_it_goes_on() -> Outcome {
    stop_and_wake(Server::Sqlite, STOPS)
}

#[test]
fn a_process_that_was_stopped_begins_nothing_on_postgres_when_it_goes_on() -> Outcome {
    Server::postgres().map_or(Ok(()), |server| stop_and_wake(server, STOPS / 2))
}

#[test]
fn a_process_that_was_stopped_begins_nothing_on_redis_when_it_goes_on() -> Outcome {
    Server::redis().map_or(Ok(()), |server| stop_and_wake(server, STOPS / 2))
}

/// Stops so many processes that hold a lease.
fn stop_and_wake(server: Server, stops: usize) -> Outcome {
    let stops = match std::env::var("STOPS") {
        Ok(text) => text.parse()?,
        Err(_) => stops,
    };
    let only = std::env::var("SWEEP_FLOW").ok();
    let mut undisturbed = Vec::new();
    for (index, (flow, at_once)) in FLOWS.into_iter().enumerate() {
        let is_other = only.as_ref().is_some_and(|only| only != flow);
        if is_other || flow == "ledger" && !server.has_transactions() {
            continue;
        }
        let mode = MODES[index % MODES.len()];
        undisturbed.push(Undisturbed::run(flow, at_once, mode, server)?);
    }
    let (stopped, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    scope(|threads| -> Outcome {
        let work = || -> Outcome {
            while stopped.load(Ordering::Relaxed) < stops {
                let index = fastrand::usize(..undisturbed.len());
                let call = fastrand::u64(1..=undisturbed[index].calls);
                let moment = match fastrand::u8(..3) {
                    0 => Moment::Before(call),
                    _ => Moment::After(call),
                };
                let (had_lease, found) = stop(&undisturbed[index], moment)?;
                stopped.fetch_add(usize::from(had_lease), Ordering::Relaxed);
                if !found.is_empty() {
                    let Undisturbed { flow, mode, .. } = &undisturbed[index];
                    let found = found.join("\n  ");
                    let text = format!("{flow} {}, {moment}:\n  {found}", mode.join(" "));
                    println!("{text}");
                    wrong.lock().map_err(|_| "a thread panicked")?.push(text);
                }
            }
            Ok(())
        };
        let threads: Vec<_> = (0..AT_ONCE).map(|_| threads.spawn(work)).collect();
        for thread in threads {
            thread.join().map_err(|_| "a thread panicked")??;
        }
        Ok(())
    })?;
    let (stopped, wrong) = (stopped.into_inner(), wrong.into_inner()?);
    println!(
        "{}: {stopped} processes that held a lease were stopped, {} violations",
        server.name(),
        wrong.len()
    );
    assert!(wrong.is_empty(), "{} violations", wrong.len());
    Ok(())
}
