//! Postgres.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::pgbouncer::PgBouncer;
use crate::process::{self, Folder};

/// A Postgres server with an empty database, for this process alone.
///
/// Everything that makes commits durable is on, as in a real one.
#[derive(Debug)]
pub struct Postgres {
    programs: PathBuf,
    port: u16,
    server: Child,
    has_tls: bool,
    // The last field: its end removes the folder.
    folder: Folder,
}

impl Postgres {
    /// Starts a server. `None`, after a line that says so, if Postgres is not installed.
    ///
    /// # Panics
    ///
    /// The server does not start; or it is not installed, and the variable `CI` is set.
    pub fn start() -> Option<Postgres> {
        Postgres::start_with(None)
    }

    /// Starts a server that offers TLS, with this certificate and its key as PEM. `None`, after a
    /// line that says so, if Postgres is not installed.
    ///
    /// # Panics
    ///
    /// As [`start`](Postgres::start).
    pub fn start_with_tls(certificate: &str, key: &str) -> Option<Postgres> {
        Postgres::start_with(Some((certificate, key)))
    }

    fn start_with(tls: Option<(&str, &str)>) -> Option<Postgres> {
        let server = crate::installed("postgres", &of_debian(), "postgresql")?;
        let programs = server.parent().map(PathBuf::from).unwrap_or_default();
        let folder = Folder::new("postgres");
        let mut initdb = folder.command(&programs.join("initdb"));
        initdb
            .args([
                "--username",
                "flow",
                "--auth",
                "trust",
                "--encoding",
                "UTF8",
            ])
            .args(["--locale", "C", "--no-sync", "--pgdata", "data"]);
        process::output(&mut initdb);
        if let Some((certificate, key)) = tls {
            folder.write("server.crt", certificate);
            folder.write("server.key", key);
        }
        let has_tls = tls.is_some();
        let mut started = None;
        for _ in 0..5 {
            // Somebody else may take the port before the server does.
            let port = process::free_port();
            started = serve(&programs, &folder, port, has_tls).map(|server| (port, server));
            if started.is_some() {
                break;
            }
        }
        let Some((port, server)) = started else {
            panic!("Postgres does not start: {}", folder.logged());
        };
        Some(Postgres {
            programs,
            port,
            server,
            has_tls,
            folder,
        })
    }

    /// The address of its database, without TLS.
    pub fn url(&self) -> String {
        url_at(self.port)
    }

    /// The port on which it listens, at `127.0.0.1`.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Kills the server (`kill -9`). What it had not committed is lost.
    pub fn kill(&mut self) {
        process::end(&mut self.server, "KILL");
    }

    /// Starts the server again, on the same port, after [`kill`](Postgres::kill).
    ///
    /// # Panics
    ///
    /// It does not start.
    pub fn start_again(&mut self) {
        // The processes of the one that was killed may take a moment to notice.
        for _ in 0..100 {
            if let Some(server) = serve(&self.programs, &self.folder, self.port, self.has_tls) {
                self.server = server;
                return;
            }
            thread::sleep(Duration::from_millis(50));
        }
        panic!("Postgres does not start again: {}", self.folder.logged());
    }

    /// Runs a statement by the program `psql`, and returns what it prints, without headers.
    ///
    /// # Panics
    ///
    /// The statement fails.
    pub fn query(&self, statement: &str) -> String {
        let mut psql = self.folder.command(&self.programs.join("psql"));
        psql.args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align"])
            .args(["--username", "flow", "--dbname", "postgres"])
            .args(["--port", &self.port.to_string(), "--host"])
            .arg(self.folder.path())
            .args(["--command", statement]);
        let printed = process::output(&mut psql).stdout;
        String::from_utf8_lossy(&printed).trim().to_owned()
    }

    /// The statements that make a schema and what is in it, by the program `pg_dump`.
    ///
    /// # Panics
    ///
    /// There is no such schema.
    pub fn dump(&self, schema: &str) -> String {
        let mut pg_dump = self.folder.command(&self.programs.join("pg_dump"));
        pg_dump
            .args(["--username", "flow", "--dbname", "postgres"])
            .args(["--port", &self.port.to_string(), "--host"])
            .arg(self.folder.path())
            .args(["--schema", schema]);
        let printed = process::output(&mut pg_dump).stdout;
        String::from_utf8_lossy(&printed).into_owned()
    }

    /// Starts PgBouncer before it, in transaction mode. `None`, after a line that says so, if it is
    /// not installed.
    ///
    /// # Panics
    ///
    /// It does not start; or it is not installed, and the variable `CI` is set.
    pub fn pooler(&self) -> Option<PgBouncer> {
        PgBouncer::start(self.port)
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // An end without a last checkpoint: nobody reads the database again.
        process::end(&mut self.server, "QUIT");
    }
}

/// The address of a database on this machine.
pub(crate) fn url_at(port: u16) -> String {
    format!("postgres://flow@127.0.0.1:{port}/postgres")
}

/// The folders of Debian's versions, the newest first.
fn of_debian() -> Vec<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
    let mut folders: Vec<(u32, PathBuf)> = versions
        .flatten()
        .filter_map(|version| {
            let number = version.file_name().to_str()?.parse().ok()?;
            Some((number, version.path().join("bin")))
        })
        .collect();
    folders.sort();
    folders
        .into_iter()
        .rev()
        .map(|(_, folder)| folder)
        .collect()
}

/// Runs the server. `None` if it ends before it answers.
fn serve(programs: &Path, folder: &Folder, port: u16, has_tls: bool) -> Option<Child> {
    let mut postgres = folder.command(&programs.join("postgres"));
    postgres
        .args(["-D", "data", "-p", &port.to_string()])
        .args(["-c", "listen_addresses=127.0.0.1"])
        .args(["-c", "max_connections=200"])
        // What is left in shared memory when the server is killed would stay there.
        .args(["-c", "dynamic_shared_memory_type=mmap"])
        .arg("-c")
        .arg(format!(
            "unix_socket_directories={}",
            folder.path().display()
        ))
        .stdout(Stdio::null())
        .stderr(folder.log());
    if has_tls {
        let file = |name: &str| folder.path().join(name).display().to_string();
        postgres
            .args(["-c", "ssl=on"])
            .args(["-c", &format!("ssl_cert_file={}", file("server.crt"))])
            .args(["-c", &format!("ssl_key_file={}", file("server.key"))]);
    }
    let mut server = postgres.spawn().expect("Postgres can be started");
    let is_ready = || {
        let mut ready = Command::new(programs.join("pg_isready"));
        let port = port.to_string();
        ready.args(["--quiet", "--host", "127.0.0.1", "--port", &port]);
        ready.status().is_ok_and(|status| status.success())
    };
    process::is_up(&mut server, port, is_ready).then_some(server)
}
