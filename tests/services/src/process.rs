//! A server's folder and processes, which do not outlive this process.

use std::fs::{self, File};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::system;

/// How long a server may take to start or to end.
const PATIENCE: Duration = Duration::from_secs(60);

/// The file in which a server logs.
const LOG: &str = "server.log";

/// Asks the servers whose process ids are in the folder to end, then kills them, then removes the
/// folder: as soon as nobody holds the other end of its input any more.
const WATCH: &str = r#"
trap '' INT TERM HUP
cat > /dev/null
for signal in QUIT KILL; do
    for round in $(seq 100); do
        left=
        for file in "$1"/*.pid "$1"/*/*.pid; do
            [ -e "$file" ] || continue
            pid=$(head -n 1 "$file")
            kill -0 "$pid" 2> /dev/null || continue
            left=yes
            [ "$round" = 1 ] && kill -s "$signal" "$pid" 2> /dev/null
        done
        [ -z "$left" ] && break 2
        sleep 0.05
    done
done
rm -rf "$1"
"#;

/// A temporary folder that belongs to the user as whom its servers run.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    user: Option<&'static str>,
    watch: Child,
}

impl Folder {
    /// A new folder. If this process is root's, its servers run as this user of Debian's package,
    /// since most servers refuse to run as root; else, as the user of this process.
    pub(crate) fn new(user: &'static str) -> Folder {
        Folder::of(Some(user))
    }

    /// A new folder, whose servers run as the user of this process.
    pub(crate) fn of_this_user() -> Folder {
        Folder::of(None)
    }

    fn of(user: Option<&'static str>) -> Folder {
        let path = TempDir::new().expect("a temporary folder").keep();
        let user = user.filter(|_| system::is_of_root(&path));
        if let Some(user) = user {
            let number = |flag| {
                let shown = output(Command::new("id").args([flag, user]));
                let text = String::from_utf8_lossy(&shown.stdout).trim().to_owned();
                text.parse().expect("a number of a user")
            };
            system::give(&path, number("-u"), number("-g")).expect("root can do this");
        }
        let mut watch = Command::new("sh");
        watch
            .args(["-c", WATCH, "watch"])
            .arg(&path)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let watch = system::leave_signals(&mut watch);
        let watch = watch.spawn().expect("a shell can be started");
        Folder { path, user, watch }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// A command that runs as the user of the servers.
    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = match self.user {
            None => Command::new(program),
            Some(user) => {
                let mut command = Command::new("setpriv");
                command
                    .args(["--reuid", user, "--regid", user, "--clear-groups", "--"])
                    .arg(program);
                command
            }
        };
        command.current_dir(&self.path).stdin(Stdio::null());
        system::leave_signals(&mut command);
        command
    }

    /// Writes a file that the servers own, and nobody else can read.
    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let file = self.path.join(name);
        fs::write(&file, text).expect("the file can be written");
        system::make_private(&file, &self.path).expect("the owner can be set");
        file
    }

    /// The end of the log of its server, to which the server appends.
    pub(crate) fn log(&self) -> File {
        File::options()
            .create(true)
            .append(true)
            .open(self.path.join(LOG))
            .expect("the log can be written")
    }

    /// What its server has logged.
    pub(crate) fn logged(&self) -> String {
        fs::read_to_string(self.path.join(LOG)).unwrap_or_default()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(self.watch.stdin.take());
        let _ = self.watch.wait();
    }
}

/// A port of this machine that nobody uses now.
pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("there is a free port");
    listener.local_addr().expect("it has an address").port()
}

/// Waits until a server answers, by this test. Returns false if the server has ended instead.
pub(crate) fn is_up(server: &mut Child, port: u16, answers: impl Fn() -> bool) -> bool {
    let began = Instant::now();
    loop {
        if server.try_wait().expect("a child").is_some() {
            return false;
        }
        if TcpStream::connect(("127.0.0.1", port)).is_ok() && answers() {
            return true;
        }
        assert!(began.elapsed() < PATIENCE, "the server does not answer");
        thread::sleep(Duration::from_millis(20));
    }
}

/// Sends a signal to a server, and waits for its end. One that does not end is killed.
pub(crate) fn end(server: &mut Child, signal: &str) {
    if server.try_wait().expect("a child").is_some() {
        return;
    }
    signal_to(server.id(), signal);
    let began = Instant::now();
    while server.try_wait().expect("a child").is_none() {
        if began.elapsed() > PATIENCE / 6 {
            server.kill().expect("a child");
        }
        thread::sleep(Duration::from_millis(2));
    }
}

/// Sends a signal to a process.
pub(crate) fn signal_to(process: u32, signal: &str) {
    let _ = Command::new("sh")
        .args(["-c", "kill -s \"$1\" \"$2\"", "kill", signal])
        .arg(process.to_string())
        .status();
}

/// Runs a command that has to succeed.
pub(crate) fn output(command: &mut Command) -> Output {
    let output = command.output();
    let output = output.unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(
        output.status.success(),
        "{command:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    output
}
