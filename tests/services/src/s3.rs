//! A server that speaks the language of S3.

use std::path::{Path, PathBuf};
use std::process::Child;

use crate::http::{answers_200, is_well};
use crate::process::{self, Folder};

/// A server that speaks the language of S3, with one bucket, for this process alone: `moto_server`,
/// which keeps what it is given in memory, and checks no keys.
#[derive(Debug)]
pub struct S3 {
    port: u16,
    server: Child,
    // The last field: its end removes the folder.
    _folder: Folder,
}

/// The name of the bucket.
const BUCKET: &str = "flows";

impl S3 {
    /// Starts a server. `None`, after a line that says so, if it is not installed.
    ///
    /// # Panics
    ///
    /// The server does not start; or it is not installed, and the variable `CI` is set.
    pub fn start() -> Option<S3> {
        let Some(program) = installed() else {
            crate::missing("moto_server", "PyPI's package `moto`");
            return None;
        };
        let folder = Folder::of_this_user();
        // Somebody else may take the port before the server does.
        let started = (0..5).find_map(|_| {
            let port = process::free_port();
            Some((port, serve(&program, &folder, port)?))
        });
        let Some((port, server)) = started else {
            panic!("the server does not start: {}", folder.logged());
        };
        let s3 = S3 {
            port,
            server,
            _folder: folder,
        };
        let is_made = answers_200(port, "PUT", &format!("/{BUCKET}"));
        assert!(is_made, "a bucket cannot be made");
        Some(s3)
    }

    /// The address of the server.
    pub fn endpoint(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The name of the bucket.
    pub fn bucket(&self) -> &'static str {
        BUCKET
    }

    /// Kills the server (`kill -9`), with all that is in it.
    pub fn kill(&mut self) {
        process::end(&mut self.server, "KILL");
    }
}

impl Drop for S3 {
    fn drop(&mut self) {
        process::end(&mut self.server, "KILL");
    }
}

/// The program in the folder `moto` of the target folder.
fn installed() -> Option<PathBuf> {
    let test = std::env::current_exe().ok()?;
    test.ancestors()
        .map(|folder| folder.join("moto/bin/moto_server"))
        .find(|program| program.is_file())
}

/// Runs the server. `None` if it ends before it answers.
fn serve(program: &Path, folder: &Folder, port: u16) -> Option<Child> {
    let mut moto = folder.command(program);
    moto.args(["--host", "127.0.0.1", "--port", &port.to_string()])
        .stdout(folder.log())
        .stderr(folder.log());
    let mut server = moto.spawn().expect("the server can be started");
    folder.write("moto.pid", &server.id().to_string());
    let is_ready = || is_well(port, "/moto-api/");
    process::is_up(&mut server, port, is_ready).then_some(server)
}
