//! Redis.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::process::{self, Folder};

/// An empty Redis server, for this process alone.
#[derive(Debug)]
pub struct Redis {
    program: PathBuf,
    settings: Vec<String>,
    port: u16,
    server: Child,
    // The last field: its end removes the folder.
    folder: Folder,
}

impl Redis {
    /// Starts a server that confirms nothing before it is on the disk. `None`, after a line that says
    /// so, if Redis is not installed.
    ///
    /// # Panics
    ///
    /// The server does not start; or it is not installed, and the variable `CI` is set.
    pub fn start() -> Option<Redis> {
        Redis::start_with(&["--appendonly", "yes", "--appendfsync", "always"])
    }

    /// Starts a server with these settings.
    ///
    /// # Panics
    ///
    /// As [`start`](Redis::start).
    pub fn start_with(settings: &[&str]) -> Option<Redis> {
        let program = crate::installed("redis-server", &[], "redis-server")?;
        let settings: Vec<String> = settings.iter().map(|&setting| setting.into()).collect();
        let folder = Folder::new("redis");
        // Somebody else may take the port before the server does.
        let started = (0..5).find_map(|_| {
            let port = process::free_port();
            Some((port, serve(&program, &settings, &folder, port)?))
        });
        let Some((port, server)) = started else {
            panic!("Redis does not start: {}", folder.logged());
        };
        Some(Redis {
            program,
            settings,
            port,
            server,
            folder,
        })
    }

    /// Starts a cluster of two servers, each of which has a half of the slots. `None`, after a line
    /// that says so, if Redis is not installed.
    ///
    /// # Panics
    ///
    /// As [`start`](Redis::start).
    pub fn start_cluster() -> Option<[Redis; 2]> {
        let settings = ["--appendonly", "yes", "--appendfsync", "always"];
        let server = || {
            // The port of the servers among themselves is another one.
            let bus = process::free_port().to_string();
            let cluster = ["--cluster-enabled", "yes", "--cluster-port", &bus];
            let server = Redis::start_with(&[&settings[..], &cluster].concat())?;
            Some((server, bus))
        };
        let ((one, _), (other, bus)) = (server()?, server()?);
        one.command(&["CLUSTER", "ADDSLOTSRANGE", "0", "8191"]);
        other.command(&["CLUSTER", "ADDSLOTSRANGE", "8192", "16383"]);
        // They begin alike, and so would each think that the other's slots are its own.
        one.command(&["CLUSTER", "SET-CONFIG-EPOCH", "1"]);
        other.command(&["CLUSTER", "SET-CONFIG-EPOCH", "2"]);
        let port = other.port.to_string();
        one.command(&["CLUSTER", "MEET", "127.0.0.1", &port, &bus]);
        let began = Instant::now();
        for server in [&one, &other] {
            let is_whole = || {
                let info = server.command(&["CLUSTER", "INFO"]);
                info.contains("cluster_state:ok") && info.contains("cluster_slots_ok:16384")
            };
            while !is_whole() {
                assert!(began.elapsed() < Duration::from_secs(60), "no cluster");
                thread::sleep(Duration::from_millis(20));
            }
        }
        Some([one, other])
    }

    /// The address of its database.
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// The port on which it listens, at `127.0.0.1`.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Kills the server (`kill -9`). What it had not written to its file is lost.
    pub fn kill(&mut self) {
        process::end(&mut self.server, "KILL");
    }

    /// Starts the server again, on the same port, after [`kill`](Redis::kill).
    ///
    /// # Panics
    ///
    /// It does not start.
    pub fn start_again(&mut self) {
        match serve(&self.program, &self.settings, &self.folder, self.port) {
            Some(server) => self.server = server,
            None => panic!("Redis does not start again: {}", self.folder.logged()),
        }
    }

    /// The file to which it appends what is written, of those in its folder.
    ///
    /// # Panics
    ///
    /// There is none.
    pub fn log_file(&self) -> PathBuf {
        let files = fs::read_dir(self.folder.path().join("appendonlydir"));
        let files = files.expect("the server has a log").flatten();
        let numbered = files.filter_map(|file| {
            let name = file.file_name().into_string().ok()?;
            let number = name.strip_suffix(".incr.aof")?.rsplit_once('.')?.1;
            Some((number.parse::<u32>().ok()?, file.path()))
        });
        numbered.max().expect("the log has a file").1
    }

    /// Lets the server write its log anew, and waits until that is done.
    ///
    /// # Panics
    ///
    /// It fails, or takes too long.
    pub fn rewrite_log(&self) {
        self.command(&["BGREWRITEAOF"]);
        let began = Instant::now();
        loop {
            let info = self.command(&["INFO", "persistence"]);
            let ends = ["aof_rewrite_in_progress:0", "aof_rewrite_scheduled:0"];
            if ends.iter().all(|end| info.contains(end)) {
                assert!(info.contains("aof_last_bgrewrite_status:ok"), "{info}");
                return;
            }
            assert!(began.elapsed() < Duration::from_secs(60), "{info}");
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Runs a command by the program `redis-cli`, and returns what it prints.
    ///
    /// # Panics
    ///
    /// The command fails.
    pub fn command(&self, command: &[&str]) -> String {
        let printed = process::output(cli(self.port).arg("-e").args(command));
        String::from_utf8_lossy(&printed.stdout).trim().to_owned()
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        // Nobody reads its files again.
        process::end(&mut self.server, "KILL");
    }
}

fn cli(port: u16) -> Command {
    let mut cli = Command::new("redis-cli");
    cli.args(["-h", "127.0.0.1", "-p", &port.to_string()]);
    cli
}

/// Runs the server. `None` if it ends before it answers.
fn serve(program: &Path, settings: &[String], folder: &Folder, port: u16) -> Option<Child> {
    let mut redis = folder.command(program);
    redis
        .args(["--port", &port.to_string(), "--bind", "127.0.0.1"])
        .args(["--save", "", "--daemonize", "no"])
        .args(settings)
        .stdout(folder.log())
        .stderr(folder.log());
    let mut server = redis.spawn().expect("Redis can be started");
    folder.write("redis.pid", &server.id().to_string());
    // While it reads its files, it answers something else.
    let is_ready = || {
        let ping = cli(port).arg("ping").stderr(Stdio::null()).output();
        ping.is_ok_and(|answer| answer.stdout.starts_with(b"PONG"))
    };
    process::is_up(&mut server, port, is_ready).then_some(server)
}
