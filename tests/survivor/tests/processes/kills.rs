//! A process is killed with SIGKILL again and again.

use std::collections::{BTreeMap, BTreeSet};
use std::env::VarError;
use std::thread::sleep;
use std::time::{Duration, Instant};

use flow_durable::{Execution, Record, RecordKind, Status};
use flow_survivor::{LEASE, Survivor, expected_total};

use crate::database::Server;
use crate::support::{Outcome, Place, Process, check_journal};

/// How long a line is that a step writes, about, in bytes.
const LINE: u64 = 80;

/// What has been recorded, without numbers, times and the order of what runs at once.
fn shape(journal: &[Record]) -> BTreeSet<String> {
    let recorded = journal
        .iter()
        .filter(|record| record.kind == RecordKind::Outcome);
    recorded
        .map(|record| format!("{} {}", record.step, record.payload))
        .collect()
}

/// How often the process is killed: so often, unless `KILLS` says otherwise.
fn kills(otherwise: u64) -> Outcome<u64> {
    match std::env::var("KILLS") {
        Ok(text) => match text.parse() {
            Ok(kills) => Ok(kills),
            Err(_) => Err(format!("KILLS is `{text}`, and has to be a number").into()),
        },
        Err(VarError::NotPresent) => Ok(otherwise),
        Err(error) => Err(format!("KILLS: {error}").into()),
    }
}

/// Until a process has done a part of a round, or somewhat more time has gone by than it needs to begin.
fn let_live(process: &Process, server: Server) {
    let more_us = match server {
        Server::Sqlite => 40_000,
        Server::Postgres(_) | Server::Redis(_) => 200_000,
    };
    let enough = process.written() + fastrand::u64(1..10) * LINE;
    let most = Instant::now() + LEASE + Duration::from_micros(fastrand::u64(0..more_us));
    while process.written() < enough && Instant::now() < most {
        sleep(Duration::from_micros(200));
    }
    sleep(Duration::from_micros(fastrand::u64(0..1500)));
}

#[test]
fn kills_change_nothing() -> Outcome {
    kill(Server::Sqlite, 200)
}

#[test]
fn kills_change_nothing_on_postgres() -> Outcome {
    Server::postgres().map_or(Ok(()), |server| kill(server, 40))
}

#[test]
fn kills_change_nothing_on_redis() -> Outcome {
    Server::redis().map_or(Ok(()), |server| kill(server, 40))
}

/// Kills a process at random moments, so many times, and lets it complete its execution then. For 1,000 of them:
/// `KILLS=1000 cargo test -p flow-survivor --test processes -- --nocapture kills_change_nothing`.
fn kill(server: Server, kills: u64) -> Outcome {
    let kills = self::kills(kills)?;
    // A life is much shorter than half a round, so that a run of this length is not over before.
    let rounds = kills / 2 + 5;
    let keys = ["killed".to_owned()];
    let calm = Place::new(server)?;
    let mut left_alone = calm.spawn("left alone", LEASE, rounds, &keys)?;

    let place = Place::new(server)?;
    let mut begun: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for killed in 0..=kills {
        let recorded = recorded_elsewhere(&place)?;
        let name = format!("life {killed}");
        let mut process = place.spawn(&name, LEASE, rounds, &keys)?;
        if killed < kills {
            let_live(&process, server);
            process.kill()?;
        }
        let is_over = process.succeeds()?;
        assert_eq!(is_over, killed == kills, "after {killed} of {kills}");
        for (step, times) in process.times("began")? {
            assert!(!recorded.contains(&step), "{step} ran again, and was done");
            begun.entry(step).or_default().extend(times);
        }
    }

    let found = place.executions()?;
    let [(execution, journal)] = &found[..] else {
        return Err("there is one execution".into());
    };
    assert_eq!(execution.status(), Status::Completed);
    let output = execution.output::<Survivor>()?.ok_or("no output")?;
    assert_eq!(
        (output.total, output.round),
        (expected_total(rounds), rounds)
    );
    nothing_ran_once_recorded(server, execution, journal, &begun);
    check_journal(journal, rounds);
    let rerun = begun.values().filter(|times| times.len() > 1).count();
    assert!(rerun > 0, "in {kills} kills, none hit a step");

    assert!(left_alone.succeeds()?);
    let undisturbed = calm.executions()?;
    let [(_, undisturbed)] = &undisturbed[..] else {
        return Err("there is one execution".into());
    };
    assert_eq!(shape(journal), shape(undisturbed));
    println!(
        "{}: {kills} kills, {} records, {rerun} steps under way ran again",
        server.name(),
        journal.len()
    );
    Ok(())
}

/// The steps whose outcomes are recorded on a server. It sets the times of records by its clock, as
/// each process believes that to go: so they cannot be compared with those of the steps.
fn recorded_elsewhere(place: &Place) -> Outcome<BTreeSet<String>> {
    let mut recorded = BTreeSet::new();
    if place.database().server().is_file() {
        return Ok(recorded);
    }
    for stored in place.database().contents()? {
        let outcomes = stored
            .records
            .iter()
            .filter(|it| it.kind == RecordKind::Outcome);
        recorded.extend(outcomes.map(|outcome| format!("{}/{}", stored.row.id, outcome.step)));
    }
    Ok(recorded)
}

/// No step began after its outcome was recorded, and all are.
fn nothing_ran_once_recorded(
    server: Server,
    execution: &Execution,
    journal: &[Record],
    begun: &BTreeMap<String, Vec<u64>>,
) {
    let outcomes = journal
        .iter()
        .filter(|record| record.kind == RecordKind::Outcome);
    let mut unrecorded: BTreeSet<&String> = begun.keys().collect();
    for record in outcomes {
        let step = format!("{}/{}", execution.id(), record.step);
        if let Some(times) = begun.get(&step) {
            assert!(unrecorded.remove(&step), "{step} is recorded twice");
            let again = times.iter().any(|began_ms| *began_ms > record.at_ms);
            let is_known = server.is_file();
            assert!(!again || !is_known, "{step} ran again, and was done");
        }
    }
    assert!(
        unrecorded.is_empty(),
        "began, and are not recorded: {unrecorded:#?}"
    );
}
