//! A process is killed with SIGKILL again and again, and comes to the same as one that is left alone.

use std::collections::{BTreeMap, BTreeSet};
use std::env::VarError;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use flow_runtime::durable::{Execution, ListOptions, Record, RecordKind, Status};
use flow_survivor::{LEASE, Survivor, expected_questions, expected_total, runtime};

/// How long a line is that a step writes, about, in bytes.
const LINE: u64 = 80;

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

    /// How many bytes the steps have written until now.
    fn written(&self) -> u64 {
        fs::metadata(self.effects()).map_or(0, |file| file.len())
    }

    /// When each step began, as often as it did, in milliseconds.
    fn begun(&self) -> Outcome<BTreeMap<String, Vec<u64>>> {
        let mut begun: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        for line in fs::read_to_string(self.effects())?.lines() {
            if let Some(("began", line)) = line.split_once(' ') {
                let (at_ms, step) = line.split_once(' ').ok_or("no time")?;
                let times = begun.entry(step.to_owned()).or_default();
                times.push(at_ms.parse()?);
            }
        }
        Ok(begun)
    }

    /// How many steps began more than once.
    fn begun_twice(&self) -> Outcome<usize> {
        let begun = self.begun()?;
        Ok(begun.values().filter(|times| times.len() > 1).count())
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

/// The journal has every number once, every outcome once, an answer for every question, and the end at its end.
fn check_journal(journal: &[Record], rounds: u64) {
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
    let count = |kind| journal.iter().filter(|record| record.kind == kind).count() as u64;
    let questions = expected_questions(rounds);
    assert_eq!(
        (count(RecordKind::Paused), count(RecordKind::Resumed)),
        (questions, questions)
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

/// How often the process is killed.
fn kills() -> Outcome<u64> {
    match std::env::var("KILLS") {
        Ok(text) => match text.parse() {
            Ok(kills) => Ok(kills),
            Err(_) => Err(format!("KILLS is `{text}`, and has to be a number").into()),
        },
        Err(VarError::NotPresent) => Ok(200),
        Err(error) => Err(format!("KILLS: {error}").into()),
    }
}

/// Until a process has done a part of a round, or somewhat more time has gone by than it needs to begin.
fn let_live(place: &Place) {
    let enough = place.written() + fastrand::u64(1..10) * LINE;
    let most = Instant::now() + LEASE + Duration::from_micros(fastrand::u64(0..40_000));
    while place.written() < enough && Instant::now() < most {
        sleep(Duration::from_micros(200));
    }
    sleep(Duration::from_micros(fastrand::u64(0..1500)));
}

/// Kills a process at random moments, 200 times, and lets it complete its execution then. For 1,000 of them:
/// `KILLS=1000 cargo test -p flow-survivor --test kills -- --nocapture kills_change_nothing`.
#[test]
fn kills_change_nothing() -> Outcome {
    let kills = kills()?;
    // A life is much shorter than half a round, so that a run of this length is not over before.
    let rounds = kills / 2 + 5;
    let keys = ["killed".to_owned()];
    let calm = Place::new()?;
    let mut left_alone = calm.spawn(LEASE, rounds, &keys)?;

    let place = Place::new()?;
    for killed in 0..kills {
        let mut child = place.spawn(LEASE, rounds, &keys)?;
        let_live(&place);
        child.kill()?;
        assert!(
            !child.wait()?.success(),
            "the run was over after {killed} kills of {kills}"
        );
    }
    assert!(place.spawn(LEASE, rounds, &keys)?.wait()?.success());

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
    nothing_ran_once_recorded(execution, journal, &place.begun()?);
    check_journal(journal, rounds);
    let rerun = place.begun_twice()?;
    assert!(rerun > 0, "in {kills} kills, none hit a step");

    assert!(left_alone.wait()?.success());
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

/// No step began after its outcome was recorded.
fn nothing_ran_once_recorded(
    execution: &Execution,
    journal: &[Record],
    begun: &BTreeMap<String, Vec<u64>>,
) {
    let outcomes = journal
        .iter()
        .filter(|record| record.kind == RecordKind::Outcome);
    let mut steps = 0;
    for record in outcomes {
        let step = format!("{}/{}#{}", execution.id(), record.path, record.visit);
        if let Some(times) = begun.get(&step) {
            steps += 1;
            let again = times.iter().any(|began_ms| *began_ms > record.at_ms);
            assert!(!again, "{step} ran again, and was done");
        }
    }
    assert_eq!(steps, begun.len(), "a step that began is not recorded");
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
    while one.try_wait()?.is_none() && place.written() < 200 * LINE {
        sleep(Duration::from_millis(5));
    }
    let mut stopped = 0;
    while one.try_wait()?.is_none() && (stopped < 3 || place.begun_twice()? == 0 && stopped < 10) {
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
        check_journal(journal, rounds);
    }
    let twice = place.begun_twice()?;
    println!("{stopped} stops: {twice} steps began in both processes and were recorded by one");
    Ok(())
}
