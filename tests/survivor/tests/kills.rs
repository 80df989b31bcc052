//! A process is killed with SIGKILL again and again, and comes to the same as one that is left alone.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use flow_runtime::durable::{Execution, ListOptions, Record, RecordKind, Status};
use flow_survivor::{LEASE, Survivor, expected_total, runtime};

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// A database, and the file to which steps write what they do.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Outcome<Self> {
        Ok(Place {
            folder: tempfile::tempdir()?,
        })
    }

    fn database(&self) -> PathBuf {
        self.folder.path().join("survivor.db")
    }

    fn effects(&self) -> PathBuf {
        self.folder.path().join("effects")
    }

    fn spawn(&self, lease: Duration, rounds: u64, keys: &[String]) -> Outcome<Child> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_flow-survivor"));
        command
            .arg(self.database())
            .arg(lease.as_millis().to_string())
            .arg(rounds.to_string())
            .args(keys);
        command
            .env("EFFECTS", self.effects())
            .stdout(Stdio::piped());
        Ok(command.spawn()?)
    }

    /// What the steps have written until now.
    fn lines(&self) -> Vec<String> {
        let text = fs::read_to_string(self.effects()).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}

/// The executions of a database, with their journals.
fn executions(file: &Path) -> Outcome<Vec<(Execution, Vec<Record>)>> {
    let tokio = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    tokio.block_on(async {
        let runtime = runtime(file, LEASE).await?;
        let mut found = Vec::new();
        for execution in runtime.list(ListOptions::new()).await? {
            let journal = execution.journal().await?;
            found.push((execution, journal));
        }
        Ok(found)
    })
}

/// The steps whose outcomes are recorded, as the steps call themselves.
fn completed(executions: &[(Execution, Vec<Record>)]) -> BTreeSet<String> {
    let of = |(execution, journal): &(Execution, Vec<Record>)| -> Vec<String> {
        let outcomes = journal
            .iter()
            .filter(|record| record.kind == RecordKind::Outcome);
        outcomes
            .map(|record| format!("{}/{}#{}", execution.id(), record.path, record.visit))
            .collect()
    };
    executions.iter().flat_map(of).collect()
}

/// The journal has every number once, every outcome once, an answer for every question, and the end at its end.
fn check_journal(journal: &[Record]) {
    assert!(
        journal
            .iter()
            .map(|record| record.seq)
            .eq(0..journal.len() as u64),
        "a record is missing"
    );
    let mut outcomes: BTreeMap<(&str, u32), u32> = BTreeMap::new();
    for record in journal
        .iter()
        .filter(|record| record.kind == RecordKind::Outcome)
    {
        *outcomes.entry((&record.path, record.visit)).or_default() += 1;
    }
    let twice: Vec<_> = outcomes.iter().filter(|(_, count)| **count != 1).collect();
    assert!(twice.is_empty(), "recorded twice: {twice:?}");
    let count = |kind| journal.iter().filter(|record| record.kind == kind).count();
    assert_eq!(
        (count(RecordKind::Paused), count(RecordKind::Resumed)),
        (1, 1)
    );
    assert_eq!(
        journal.first().map(|record| record.kind),
        Some(RecordKind::RunStarted)
    );
    assert_eq!(
        journal.last().map(|record| record.kind),
        Some(RecordKind::RunCompleted)
    );
}

/// What has been recorded, without numbers, times and the order of what runs at once.
fn shape(journal: &[Record]) -> BTreeSet<String> {
    let recorded = journal
        .iter()
        .filter(|record| record.kind == RecordKind::Outcome);
    recorded
        .map(|record| format!("{}#{} {}", record.path, record.visit, record.payload))
        .collect()
}

/// Kills a process at random moments until it has completed its execution, at least so many times.
fn survives(kills: u64) -> Outcome {
    let place = Place::new()?;
    // A life is long enough for some steps, so that a run of this length has to be killed that often.
    let rounds = kills * 2;
    let keys = ["killed".to_owned()];
    let mut killed = 0;
    let mut rerun = 0;
    loop {
        let before = executions(&place.database())?;
        let done = completed(&before);
        let written = place.lines().len();
        let mut child = place.spawn(LEASE, rounds, &keys)?;
        if killed < kills {
            sleep(LEASE + Duration::from_micros(fastrand::u64(0..40_000)));
            child.kill()?;
        }
        let status = child.wait()?;
        for line in &place.lines()[written..] {
            if let Some(step) = line.strip_prefix("began ") {
                assert!(!done.contains(step), "{step} ran again, and was done");
            }
        }
        if killed < kills {
            assert!(
                !status.success(),
                "the run was over after {killed} kills of {kills}"
            );
            killed += 1;
            continue;
        }
        assert!(status.success(), "{status}");
        break;
    }
    let found = executions(&place.database())?;
    let [(execution, journal)] = &found[..] else {
        return Err("there is one execution".into());
    };
    assert_eq!(execution.status(), Status::Completed);
    let output = execution.output::<Survivor>()?.ok_or("no output")?;
    assert_eq!(
        (output.total, output.round),
        (expected_total(rounds), rounds)
    );
    check_journal(journal);

    let mut begun: BTreeMap<String, u64> = BTreeMap::new();
    for step in place
        .lines()
        .iter()
        .filter_map(|line| line.strip_prefix("began "))
    {
        *begun.entry(step.to_owned()).or_default() += 1;
    }
    rerun += begun.values().filter(|count| **count > 1).count();
    assert!(rerun > 0, "in {kills} kills, none hit a step");

    let calm = Place::new()?;
    assert!(calm.spawn(LEASE, rounds, &keys)?.wait()?.success());
    let undisturbed = executions(&calm.database())?;
    let [(_, undisturbed)] = &undisturbed[..] else {
        return Err("there is one execution".into());
    };
    assert_eq!(shape(journal), shape(undisturbed));
    println!(
        "{kills} kills, {} records, {rerun} steps under way ran again",
        journal.len()
    );
    Ok(())
}

#[test]
fn two_hundred_kills_change_nothing() -> Outcome {
    survives(200)
}

/// As the others, for longer: `cargo test -p flow-survivor -- --ignored --nocapture`.
#[test]
#[ignore = "takes minutes"]
fn a_thousand_kills_change_nothing() -> Outcome {
    survives(1000)
}

/// How many steps began more than once.
fn begun_twice(place: &Place) -> usize {
    let mut begun: BTreeMap<String, u64> = BTreeMap::new();
    for step in place
        .lines()
        .iter()
        .filter_map(|line| line.strip_prefix("began "))
    {
        *begun.entry(step.to_owned()).or_default() += 1;
    }
    begun.values().filter(|count| **count > 1).count()
}

/// Sends a signal.
fn signal(child: &Child, name: &str) -> Outcome {
    let status = Command::new("kill")
        .arg(format!("-{name}"))
        .arg(child.id().to_string())
        .status()?;
    assert!(status.success());
    Ok(())
}

#[test]
fn two_processes_fight_for_a_hundred_executions() -> Outcome {
    let place = Place::new()?;
    let lease = Duration::from_millis(200);
    let rounds = 12;
    let keys: Vec<String> = (0..100)
        .map(|number| format!("execution-{number}"))
        .collect();
    let mut one = place.spawn(lease, rounds, &keys)?;
    let mut other = place.spawn(lease, rounds, &keys)?;
    // Stopped for longer than its lease, again and again, until that was in the middle of a step, if that can be had.
    while one.try_wait()?.is_none() && place.lines().len() < 200 {
        sleep(Duration::from_millis(5));
    }
    let mut stopped = 0;
    while one.try_wait()?.is_none() && (stopped < 3 || begun_twice(&place) == 0 && stopped < 10) {
        signal(&one, "STOP")?;
        sleep(lease * 3);
        signal(&one, "CONT")?;
        sleep(Duration::from_millis(100));
        stopped += 1;
    }
    assert!(one.wait()?.success());
    assert!(other.wait()?.success());
    let found = executions(&place.database())?;
    assert_eq!(found.len(), keys.len());
    for (execution, journal) in &found {
        let output = execution.output::<Survivor>()?.ok_or("no output")?;
        assert_eq!(output.total, expected_total(rounds), "{}", execution.id());
        check_journal(journal);
    }
    let twice = begun_twice(&place);
    println!("{stopped} stops: {twice} steps began in both processes and were recorded by one");
    Ok(())
}
