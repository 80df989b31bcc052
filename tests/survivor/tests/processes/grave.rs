//! Processes that run one of the eleven flows, one after the other or beside each other, and what they
//! leave behind.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use flow_durable::Store;
use flow_postgres::tokio_postgres::{self, NoTls, SimpleQueryMessage, SimpleQueryRow};
use flow_services::Postgres;
use flow_survivor::mortal::Moment;
use flow_survivor::{postgres_at, store_at};
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::support::{Outcome, Process};

/// No process takes so long.
const TOO_LONG: Duration = Duration::from_secs(60);

/// A database, and what the processes that had it have left behind.
pub(crate) struct Grave {
    folder: tempfile::TempDir,
    /// Where the database is, if it is not a file.
    postgres: Option<Schema>,
}

/// A schema of its own.
struct Schema {
    url: String,
    name: String,
}

type Rows = Vec<Vec<Option<String>>>;

impl Schema {
    fn query(&self, sql: &str) -> Outcome<Rows> {
        let tokio = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        tokio.block_on(async {
            let (client, connection) = tokio_postgres::connect(&self.url, NoTls).await?;
            let connection = tokio::spawn(connection);
            let sql = format!("SET search_path = {}; {sql}", self.name);
            let messages = client.simple_query(&sql).await?;
            drop(client);
            connection.await??;
            let rows = messages.iter().filter_map(|message| match message {
                SimpleQueryMessage::Row(row) => Some(row),
                _ => None,
            });
            let texts = |row: &SimpleQueryRow| {
                let columns = 0..row.len();
                columns
                    .map(|column| row.get(column).map(str::to_owned))
                    .collect()
            };
            Ok(rows.map(texts).collect())
        })
    }
}

impl Drop for Schema {
    fn drop(&mut self) {
        // The server is removed in any case.
        let _ = self.query(&format!("DROP SCHEMA IF EXISTS {} CASCADE", self.name));
    }
}

impl Grave {
    /// In a file.
    pub(crate) fn new() -> Outcome<Self> {
        Grave::at(None)
    }

    /// At this server, or in a file.
    pub(crate) fn at(server: Option<&Postgres>) -> Outcome<Self> {
        let folder = tempfile::tempdir()?;
        let postgres = server.map(|server| Schema {
            url: server.url(),
            name: format!("swept_{}", uuid::Uuid::now_v7().simple()),
        });
        Ok(Grave { folder, postgres })
    }

    /// The schema that it is in, if it is not a file.
    pub(crate) fn schema(&self) -> Option<&str> {
        self.postgres.as_ref().map(|schema| schema.name.as_str())
    }

    /// Returns true if it is a file.
    pub(crate) fn is_file(&self) -> bool {
        self.postgres.is_none()
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
        let mut command = self.command(env!("CARGO_BIN_EXE_sweep"), name);
        command.arg(flow).args(mode).stderr(Stdio::piped());
        if let Some((variable, moment)) = fate {
            command.env(variable, moment.to_string());
        }
        Ok(command.spawn()?)
    }

    /// A process that takes executions out of the queue until its input ends.
    pub(crate) fn worker(&self, name: &str, lease: Duration) -> Outcome<Process> {
        let mut command = self.command(env!("CARGO_BIN_EXE_worker"), name);
        command.arg(lease.as_millis().to_string());
        command.stdin(Stdio::piped());
        Ok(Process::new(command.spawn()?, self.effects(name)))
    }

    /// A program of the store, whose first argument says where that is.
    fn command(&self, program: &str, name: &str) -> Command {
        let mut command = Command::new(program);
        match &self.postgres {
            Some(schema) => command.arg(&schema.url).env("SCHEMA", &schema.name),
            None => command.arg(self.database()),
        };
        command
            .env("EFFECTS", self.effects(name))
            .env("RUST_BACKTRACE", "0")
            .env_remove("DIE")
            .env_remove("STOP")
            .env_remove("HOLD")
            .stdout(Stdio::piped());
        command
    }

    /// The store itself.
    pub(crate) async fn store(&self) -> Outcome<Arc<dyn Store>> {
        match &self.postgres {
            Some(schema) => Ok(Arc::new(postgres_at(&schema.url, &schema.name).await?)),
            None => store_at(&self.database()).await,
        }
    }

    /// Keeps the database and everything that was noted.
    pub(crate) fn keep_all(&self, to: &Path, server: Option<&Postgres>) -> Outcome {
        fs::create_dir_all(to)?;
        for file in fs::read_dir(self.folder.path())? {
            let file = file?;
            fs::copy(file.path(), to.join(file.file_name()))?;
        }
        if let (Some(server), Some(schema)) = (server, self.schema()) {
            fs::write(to.join("schema.sql"), server.dump(schema))?;
        }
        Ok(())
    }

    /// The lines that processes of this name have noted. One that is being written is none yet.
    pub(crate) fn lines(&self, name: &str) -> Outcome<Vec<Value>> {
        let text = fs::read_to_string(self.effects(name)).unwrap_or_default();
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let lines = text[..whole].lines().map(serde_json::from_str);
        Ok(lines.collect::<Result<_, _>>()?)
    }

    /// The rows of a query, whose columns are texts.
    pub(crate) fn query(&self, sql: &str) -> Outcome<Rows> {
        if let Some(schema) = &self.postgres {
            return schema.query(sql);
        }
        let database = Connection::open(self.database())?;
        database.busy_timeout(Duration::from_secs(5))?;
        let mut statement = database.prepare(sql)?;
        let columns = statement.column_count();
        let rows = statement.query_map([], |row| {
            (0..columns).map(|column| row.get(column)).collect()
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Returns true if anything is stored.
    pub(crate) fn has_tables(&self) -> Outcome<bool> {
        if self.postgres.is_some() {
            let sql = "SELECT FROM pg_tables WHERE tablename = 'records' AND schemaname = current_schema()";
            return Ok(!self.query(sql)?.is_empty());
        }
        let sql = "SELECT name FROM sqlite_master WHERE name = 'records'";
        Ok(self.database().exists() && !self.query(sql)?.is_empty())
    }

    /// What is recorded of steps, as the store of a process notes it.
    pub(crate) fn recorded(&self) -> Outcome<Vec<Value>> {
        if !self.has_tables()? {
            return Ok(Vec::new());
        }
        let sql = "SELECT kind, execution || '/' || step FROM records \
             WHERE kind IN ('outcome', 'node_failed', 'resumed', 'timed_out')";
        let recorded = self.query(sql)?;
        let line = |row: &Vec<Option<String>>| {
            let is_late = row[0].as_deref() == Some("timed_out");
            let what = if is_late { "timed_out" } else { "recorded" };
            json!({ what: row[1] })
        };
        Ok(recorded.iter().map(line).collect())
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
