//! Processes with a database that they share, and what has to be true of it in the end.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs;
use std::path::PathBuf;
use std::process::Child;
use std::time::Duration;

use flow_durable::{Execution, ListOptions, Record, RecordKind};
use flow_survivor::{LEASE, expected_questions, runtime};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

use crate::database::{Database, Server, block_on};

pub(crate) type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

/// A database, and the processes that have it.
pub(crate) struct Place {
    database: Database,
}

impl Place {
    pub(crate) fn new(server: Server) -> Outcome<Self> {
        Ok(Place {
            database: Database::new(server)?,
        })
    }

    pub(crate) fn database(&self) -> &Database {
        &self.database
    }

    fn hold(&self) -> PathBuf {
        self.database.file("hold")
    }

    /// Lets no step end that begins from now on, in any process.
    pub(crate) fn hold_steps(&self) -> Outcome {
        Ok(fs::write(self.hold(), "")?)
    }

    pub(crate) fn let_steps_go(&self) -> Outcome {
        Ok(fs::remove_file(self.hold())?)
    }

    /// A process whose steps write what they do to the file with this name.
    pub(crate) fn spawn(
        &self,
        name: &str,
        lease: Duration,
        rounds: u64,
        keys: &[String],
    ) -> Outcome<Process> {
        self.spawn_with(name, lease, rounds, keys, "yes")
    }

    /// The same, for a process that answers what it asks, or does not.
    pub(crate) fn spawn_with(
        &self,
        name: &str,
        lease: Duration,
        rounds: u64,
        keys: &[String],
        answers: &str,
    ) -> Outcome<Process> {
        let program = env!("CARGO_BIN_EXE_flow-survivor");
        let mut command = self.database.command(program, name);
        command
            .arg(lease.as_millis().to_string())
            .arg(rounds.to_string())
            .args(keys);
        command.env("HOLD", self.hold()).env("ANSWERS", answers);
        Ok(Process::new(command.spawn()?, self.database.file(name)))
    }

    /// The executions, with their journals.
    pub(crate) fn executions(&self) -> Outcome<Vec<(Execution, Vec<Record>)>> {
        block_on(async {
            let runtime = runtime(&self.database.place(), LEASE).await?;
            let mut found = Vec::new();
            for execution in runtime.executions().list(ListOptions::new()).await? {
                let journal = execution.journal().await?;
                found.push((execution, journal));
            }
            Ok(found)
        })
    }
}

/// A process that completes the executions of a place. It does not outlive the test.
pub(crate) struct Process {
    child: Child,
    effects: PathBuf,
}

impl Process {
    pub(crate) fn new(child: Child, effects: PathBuf) -> Self {
        Process { child, effects }
    }

    /// Ends what it reads.
    pub(crate) fn end_input(&mut self) {
        drop(self.child.stdin.take());
    }

    /// Whether it has succeeded, if it is over.
    pub(crate) fn is_over(&mut self) -> Outcome<Option<bool>> {
        Ok(self.child.try_wait()?.map(|status| status.success()))
    }

    pub(crate) fn kill(&mut self) -> Outcome {
        Ok(self.child.kill()?)
    }

    /// Whether it has succeeded, once it is over.
    pub(crate) fn succeeds(&mut self) -> Outcome<bool> {
        Ok(self.child.wait()?.success())
    }

    /// Sends a signal.
    pub(crate) fn signal(&self, signal: Signal) -> Outcome {
        Ok(kill_process(Pid::from_child(&self.child), signal)?)
    }

    /// Whether it has stopped, as [`is_stopped`].
    pub(crate) fn is_stopped(&self) -> Outcome<bool> {
        is_stopped(&self.child)
    }

    /// How many bytes its steps have written until now.
    pub(crate) fn written(&self) -> u64 {
        fs::metadata(&self.effects).map_or(0, |file| file.len())
    }

    /// When its steps began, or were held or done, as often as that was, in milliseconds.
    pub(crate) fn times(&self, what: &str) -> Outcome<BTreeMap<String, Vec<u64>>> {
        let mut all: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        // It is there as soon as the first step begins.
        let text = fs::read_to_string(&self.effects).unwrap_or_default();
        for line in text.lines().filter_map(|line| line.strip_suffix(';')) {
            let mut words = line.splitn(3, ' ');
            if words.next() == Some(what) {
                let (Some(at_ms), Some(step)) = (words.next(), words.next()) else {
                    return Err(format!("`{line}` is no line of a step").into());
                };
                let times = all.entry(step.to_owned()).or_default();
                times.push(at_ms.parse()?);
            }
        }
        Ok(all)
    }

    /// Its steps that began, or were held or done.
    pub(crate) fn steps(&self, what: &str) -> Outcome<BTreeSet<String>> {
        Ok(self.times(what)?.into_keys().collect())
    }
}

/// Returns true if none of the threads of a process runs after a stop: the system says so to its
/// parent when the last one has stopped.
pub(crate) fn is_stopped(process: &Child) -> Outcome<bool> {
    let stops = WaitIdOptions::STOPPED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    match waitid(WaitId::Pid(Pid::from_child(process)), stops) {
        Ok(stopped) => Ok(stopped.is_some()),
        // It is over.
        Err(Errno::CHILD) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It fails only where the process is over already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The journal has every number once, every outcome once, an answer for every question, and the end at its end.
pub(crate) fn check_journal(journal: &[Record], rounds: u64) {
    assert!(
        journal
            .iter()
            .map(|record| record.seq)
            .eq(0..journal.len() as u64),
        "a record is missing"
    );
    let mut outcomes: BTreeMap<&str, u32> = BTreeMap::new();
    for record in journal
        .iter()
        .filter(|record| record.kind == RecordKind::Outcome)
    {
        *outcomes.entry(&record.step).or_default() += 1;
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
