//! Processes that run one of the eleven flows, one after the other or beside each other, and what they
//! leave behind.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use flow_survivor::mortal::Moment;
use rusqlite::Connection;
use serde_json::Value;

use crate::support::Outcome;

/// No process takes so long.
const TOO_LONG: Duration = Duration::from_secs(60);

/// A database, and what the processes that had it have left behind.
pub(crate) struct Grave {
    folder: tempfile::TempDir,
}

impl Grave {
    pub(crate) fn new() -> Outcome<Self> {
        Ok(Grave {
            folder: tempfile::tempdir()?,
        })
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.folder.path().join("sweep.db")
    }

    /// What the steps of processes of this name have noted.
    pub(crate) fn effects(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
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
        let mut command = Command::new(env!("CARGO_BIN_EXE_sweep"));
        command.arg(self.database()).arg(flow).args(mode);
        command
            .env("EFFECTS", self.effects(name))
            .env("RUST_BACKTRACE", "0")
            .env_remove("DIE")
            .env_remove("STOP")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some((variable, moment)) = fate {
            command.env(variable, moment.to_string());
        }
        Ok(command.spawn()?)
    }

    /// The lines that processes of this name have noted. One that is being written is none yet.
    pub(crate) fn lines(&self, name: &str) -> Outcome<Vec<Value>> {
        let text = fs::read_to_string(self.effects(name)).unwrap_or_default();
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let lines = text[..whole].lines().map(serde_json::from_str);
        Ok(lines.collect::<Result<_, _>>()?)
    }

    /// The rows of a query, whose columns are texts.
    pub(crate) fn query(&self, sql: &str) -> Outcome<Vec<Vec<Option<String>>>> {
        let database = Connection::open(self.database())?;
        database.busy_timeout(Duration::from_secs(5))?;
        let mut statement = database.prepare(sql)?;
        let columns = statement.column_count();
        let rows = statement.query_map([], |row| {
            (0..columns).map(|column| row.get(column)).collect()
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Whether anything is stored.
    pub(crate) fn has_tables(&self) -> Outcome<bool> {
        let sql = "SELECT name FROM sqlite_master WHERE name = 'records'";
        Ok(self.database().exists() && !self.query(sql)?.is_empty())
    }

    /// What is recorded of steps, as the store of a process notes it.
    pub(crate) fn recorded(&self) -> Outcome<Vec<Value>> {
        if !self.has_tables()? {
            return Ok(Vec::new());
        }
        let sql = "SELECT json_object(iif(kind = 'timed_out', 'timed_out', 'recorded'), execution || '/' || step) \
             FROM records WHERE kind IN ('outcome', 'node_failed', 'resumed', 'timed_out')";
        let recorded = self.query(sql)?;
        let lines = recorded.iter().flatten().flatten();
        Ok(lines
            .map(|line| serde_json::from_str(line))
            .collect::<Result<_, _>>()?)
    }

    /// Waits until what the dead process had claimed can be had.
    pub(crate) fn until_free(&self) -> Outcome {
        if !self.has_tables()? {
            return Ok(());
        }
        let sql = "SELECT CAST(max(claimed_until_ms) AS TEXT) FROM executions";
        let until = self.query(sql)?.into_iter().flatten().flatten().next();
        let until: u64 = until.map_or(Ok(0), |text| text.parse())?;
        let until = UNIX_EPOCH + Duration::from_millis(until);
        sleep(until.duration_since(SystemTime::now()).unwrap_or_default());
        Ok(())
    }
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
