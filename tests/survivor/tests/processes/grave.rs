//! Processes that run one of the eleven flows, one after the other or beside each other, and what they
//! leave behind.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use flow_durable::{Record, RecordKind};
use flow_survivor::mortal::Moment;
use serde_json::{Value, json};

use crate::database::{Database, Server, Stored};
use crate::support::{Outcome, Process};

/// No process takes so long.
const TOO_LONG: Duration = Duration::from_secs(60);

/// A database, and what the processes that had it have left behind.
pub(crate) struct Grave {
    database: Database,
}

impl Grave {
    pub(crate) fn new(server: Server) -> Outcome<Self> {
        Ok(Grave {
            database: Database::new(server)?,
        })
    }

    pub(crate) fn database(&self) -> &Database {
        &self.database
    }

    /// What the steps of processes of this name have noted.
    pub(crate) fn effects(&self, name: &str) -> PathBuf {
        self.database.file(name)
    }

    /// A process that lives until it is done, or until its death.
    pub(crate) fn live(
        &self,
        name: &str,
        flow: &str,
        mode: &[&str],
        death: Option<Moment>,
    ) -> Outcome<Output> {
        let fate = death.map(|death| ("DIE", death));
        ended(self.spawn(name, flow, mode, fate)?)
    }

    /// A process, and what its fate is.
    pub(crate) fn spawn(
        &self,
        name: &str,
        flow: &str,
        mode: &[&str],
        fate: Option<(&str, Moment)>,
    ) -> Outcome<Child> {
        let mut command = self.database.command(env!("CARGO_BIN_EXE_sweep"), name);
        command.arg(flow).args(mode).stderr(Stdio::piped());
        if let Some((variable, moment)) = fate {
            command.env(variable, moment.to_string());
        }
        Ok(command.spawn()?)
    }

    /// A process that takes executions out of the queue until its input ends, by a clock that is
    /// wrong by so much.
    pub(crate) fn worker(&self, name: &str, lease: Duration, clock_ms: i64) -> Outcome<Process> {
        let mut command = self.database.command(env!("CARGO_BIN_EXE_worker"), name);
        command.arg(lease.as_millis().to_string());
        command.arg(clock_ms.to_string());
        command.stdin(Stdio::piped());
        Ok(Process::new(command.spawn()?, self.effects(name)))
    }

    /// Keeps the database and everything that was noted.
    pub(crate) fn keep(&self, to: &Path) -> Outcome {
        self.database.keep(to)
    }

    /// The lines that processes of this name have noted. One that is being written is none yet.
    pub(crate) fn lines(&self, name: &str) -> Outcome<Vec<Value>> {
        let text = fs::read_to_string(self.effects(name)).unwrap_or_default();
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let lines = text[..whole].lines().map(serde_json::from_str);
        Ok(lines.collect::<Result<_, _>>()?)
    }

    /// Waits until what dead processes had claimed can be had, and says what is stored then: what
    /// they had sent to a server before they died may have come there after it.
    pub(crate) fn stored_when_free(&self) -> Outcome<Vec<Stored>> {
        let contents = self.database.contents()?;
        let claims = contents.iter().filter_map(|stored| stored.claim);
        let until = claims.map(|claim| claim.until_ms).max().unwrap_or(0);
        let until = UNIX_EPOCH + Duration::from_millis(until);
        sleep(until.duration_since(SystemTime::now()).unwrap_or_default());
        self.database.contents()
    }
}

/// What is recorded of steps, as the store of a process notes it.
pub(crate) fn recorded(contents: &[Stored]) -> Vec<Value> {
    let line = |(stored, record): (&Stored, &Record)| {
        let what = match record.kind {
            RecordKind::Outcome | RecordKind::NodeFailed | RecordKind::Resumed => "recorded",
            RecordKind::TimedOut => "timed_out",
            _ => return None,
        };
        Some(json!({ what: format!("{}/{}", stored.row.id, record.step) }))
    };
    contents
        .iter()
        .flat_map(|stored| stored.records.iter().map(move |record| (stored, record)))
        .filter_map(line)
        .collect()
}

/// What a process has said when it is over. One that takes too long is killed.
pub(crate) fn ended(mut child: Child) -> Outcome<Output> {
    let began = Instant::now();
    while child.try_wait()?.is_none() {
        if began.elapsed() > TOO_LONG {
            child.kill()?;
            break;
        }
        sleep(Duration::from_millis(2));
    }
    Ok(child.wait_with_output()?)
}

/// What it has said, in a line.
pub(crate) fn texts(output: &Output) -> String {
    let (out, err) = (&output.stdout, &output.stderr);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    format!("{}: {} {}", output.status, text(out), text(err))
}
