//! Of two processes, one after the other is stopped for longer than its lease, in the middle of a step; or either
//! of them at random, for as long as it happens.

use std::collections::BTreeSet;
use std::thread::sleep;
use std::time::{Duration, Instant};

use fastrand::Rng;
use flow_survivor::{Survivor, expected_total};
use rustix::process::Signal;

use crate::database::Server;
use crate::support::{Outcome, Place, Process, check_journal};

const LEASE: Duration = Duration::from_millis(200);

const ROUNDS: u64 = 3;

/// How often a process is stopped at random on each store, unless `RANDOM_STOPS` says so:
/// `RANDOM_STOPS=1000 cargo test -p flow-survivor --test processes -- --nocapture stopped_at_random`.
const RANDOM_STOPS: usize = 15;

/// Waits for it, on a slow machine too.
fn until(what: &str, mut condition: impl FnMut() -> Outcome<bool>) -> Outcome {
    let began = Instant::now();
    while !condition()? {
        if began.elapsed() > Duration::from_secs(180) {
            return Err(format!("not within three minutes: {what}").into());
        }
        sleep(Duration::from_millis(5));
    }
    Ok(())
}

/// The steps that are held in a process and have not begun in the other one.
fn held(process: &Process, other: &Process) -> Outcome<BTreeSet<String>> {
    let held = &process.steps("held")? - &process.steps("done")?;
    Ok(&held - &other.steps("began")?)
}

/// Stops a process in the middle of steps until the other one has begun all of them too, and lets both do them then. How many
/// they were.
fn stop(place: &Place, stopped: &Process, other: &Process) -> Outcome<usize> {
    place.hold_steps()?;
    let mut steps = BTreeSet::new();
    until("a step begins", || {
        steps = held(stopped, other)?;
        Ok(!steps.is_empty())
    })?;
    until("it is stopped outside of a transaction", || {
        stopped.signal(Signal::STOP)?;
        until("all of its threads stop", || stopped.is_stopped())?;
        let outside = place.database().can_be_written()?;
        if !outside {
            stopped.signal(Signal::CONT)?;
        }
        Ok(outside)
    })?;
    until("the other process begins what is held", || {
        Ok(held(stopped, other)?.is_empty())
    })?;
    place.let_steps_go()?;
    stopped.signal(Signal::CONT)?;
    Ok((&steps & &other.steps("began")?).len())
}

#[test]
fn two_processes_fight_for_a_hundred_executions() -> Outcome {
    fight(Server::Sqlite, 100)
}

#[test]
fn two_processes_fight_for_executions_on_postgres() -> Outcome {
    Server::postgres().map_or(Ok(()), |server| fight(server, 50))
}

#[test]
fn two_processes_fight_for_executions_on_redis() -> Outcome {
    Server::redis().map_or(Ok(()), |server| fight(server, 50))
}

fn fight(server: Server, executions: usize) -> Outcome {
    let place = Place::new(server)?;
    let keys = keys(executions);
    place.hold_steps()?;
    let mut one = place.spawn("one", LEASE, ROUNDS, &keys)?;
    until("the first half is started", || {
        Ok(one.steps("held")?.len() >= keys.len() / 2)
    })?;
    let mut other = place.spawn("other", LEASE, ROUNDS, &keys)?;
    for turn in 0..4 {
        let taken = match turn % 2 {
            0 => stop(&place, &one, &other)?,
            _ => stop(&place, &other, &one)?,
        };
        assert!(taken > 0, "stop {turn} was not in the middle of a step");
        println!(
            "{}, stop {turn}: {taken} steps began in the other process too",
            server.name()
        );
        let done =
            || -> Outcome<usize> { Ok(one.steps("done")?.len() + other.steps("done")?.len()) };
        let enough = done()? + executions;
        until("they go on", || {
            let is_held = !held(&one, &other)?.is_empty() || !held(&other, &one)?.is_empty();
            Ok(!is_held && done()? >= enough)
        })?;
    }
    assert!(one.succeeds()?);
    assert!(other.succeeds()?);
    check(&place, &keys)?;
    let began = &one.steps("began")? & &other.steps("began")?;
    let done = &one.steps("done")? & &other.steps("done")?;
    println!(
        "{}: {} steps began in both processes, {} were done by both, and each was recorded by one",
        server.name(),
        began.len(),
        done.len()
    );
    Ok(())
}

fn keys(executions: usize) -> Vec<String> {
    (0..executions)
        .map(|number| format!("execution-{number}"))
        .collect()
}

/// Each execution is completed, and was recorded as if one process had run it.
fn check(place: &Place, keys: &[String]) -> Outcome {
    let found = place.executions()?;
    assert_eq!(found.len(), keys.len());
    for (execution, journal) in &found {
        let output = execution.output::<Survivor>()?.ok_or("no output")?;
        assert_eq!(output.total, expected_total(ROUNDS), "{}", execution.id());
        check_journal(journal, ROUNDS);
    }
    Ok(())
}

#[test]
fn processes_that_are_stopped_at_random_come_to_an_end() -> Outcome {
    stop_at_random(Server::Sqlite)
}

#[test]
fn processes_that_are_stopped_at_random_come_to_an_end_on_postgres() -> Outcome {
    Server::postgres().map_or(Ok(()), stop_at_random)
}

#[test]
fn processes_that_are_stopped_at_random_come_to_an_end_on_redis() -> Outcome {
    Server::redis().map_or(Ok(()), stop_at_random)
}

/// Stops one of two processes that wait for the same executions, and lets it go on before or after its lease is over,
/// so many times. Both come to an end each time, which they do not if one waits for what the other one has done.
fn stop_at_random(server: Server) -> Outcome {
    let wanted = match std::env::var("RANDOM_STOPS") {
        Ok(text) => text.parse()?,
        Err(_) => RANDOM_STOPS,
    };
    let keys = keys(30);
    let mut random = Rng::new();
    let (mut stops, mut fights) = (0, 0);
    while stops < wanted {
        let place = Place::new(server)?;
        let mut processes = [
            place.spawn("one", LEASE, ROUNDS, &keys)?,
            place.spawn("other", LEASE, ROUNDS, &keys)?,
        ];
        while processes[0].is_over()?.is_none() && processes[1].is_over()?.is_none() {
            let stopped = &processes[random.usize(..2)];
            sleep(Duration::from_millis(random.u64(..60)));
            stopped.signal(Signal::STOP)?;
            sleep(LEASE * random.u32(..300) / 100);
            stopped.signal(Signal::CONT)?;
            stops += 1;
        }
        for process in &mut processes {
            let mut succeeded = None;
            until("both processes end", || {
                succeeded = process.is_over()?;
                Ok(succeeded.is_some())
            })?;
            assert_eq!(succeeded, Some(true));
        }
        check(&place, &keys)?;
        fights += 1;
    }
    println!(
        "{}: {stops} times a process was stopped, in {fights} fights",
        server.name()
    );
    Ok(())
}
