//! Of two processes, one after the other is stopped for longer than its lease.

use std::collections::BTreeSet;
use std::thread::sleep;
use std::time::{Duration, Instant};

use flow_survivor::{Survivor, expected_total};

use crate::database::Server;
use crate::support::{Outcome, Place, Process, check_journal};

const LEASE: Duration = Duration::from_millis(200);

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
        stopped.signal("STOP")?;
        until("all of its threads stop", || stopped.is_stopped())?;
        let outside = place.database().can_be_written()?;
        if !outside {
            stopped.signal("CONT")?;
        }
        Ok(outside)
    })?;
    until("the other process begins what is held", || {
        Ok(held(stopped, other)?.is_empty())
    })?;
    place.let_steps_go()?;
    stopped.signal("CONT")?;
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
    let rounds = 3;
    let keys: Vec<String> = (0..executions)
        .map(|number| format!("execution-{number}"))
        .collect();
    place.hold_steps()?;
    let mut one = place.spawn("one", LEASE, rounds, &keys)?;
    until("the first half is started", || {
        Ok(one.steps("held")?.len() >= keys.len() / 2)
    })?;
    let mut other = place.spawn("other", LEASE, rounds, &keys)?;
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

    let found = place.executions()?;
    assert_eq!(found.len(), keys.len());
    for (execution, journal) in &found {
        let output = execution.output::<Survivor>()?.ok_or("no output")?;
        assert_eq!(output.total, expected_total(rounds), "{}", execution.id());
        check_journal(journal, rounds);
    }
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
