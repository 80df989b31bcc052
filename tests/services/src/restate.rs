//! Restate.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Child;

use crate::http::is_well;
use crate::process::{self, Folder};

/// A Restate server without services, for this process alone.
#[derive(Debug)]
pub struct Restate {
    program: PathBuf,
    ports: Ports,
    /// The file with the key by which it signs.
    key: Option<PathBuf>,
    server: Child,
    // The last field: its end removes the folder.
    folder: Folder,
}

#[derive(Debug, Clone, Copy)]
struct Ports {
    ingress: u16,
    admin: u16,
    node: u16,
}

impl Restate {
    /// Starts a server. `None`, after a line that says so, if Restate is not installed.
    ///
    /// # Panics
    ///
    /// The server does not start; or it is not installed, and the variable `CI` is set.
    pub fn start() -> Option<Restate> {
        Restate::start_with(None)
    }

    /// The same, with a server that signs what it sends to services by this private key (Ed25519, in
    /// PEM).
    ///
    /// # Panics
    ///
    /// As [`start`](Restate::start).
    pub fn start_signing(key: &str) -> Option<Restate> {
        Restate::start_with(Some(key))
    }

    fn start_with(key: Option<&str>) -> Option<Restate> {
        let Some(program) = installed() else {
            crate::missing(
                "restate-server",
                "npm's package `@restatedev/restate-server`",
            );
            return None;
        };
        let folder = Folder::of_this_user();
        let key = key.map(|key| folder.write("identity.pem", key));
        // Somebody else may take a port before the server does.
        let started = (0..5).find_map(|_| {
            let ports = Ports {
                ingress: process::free_port(),
                admin: process::free_port(),
                node: process::free_port(),
            };
            Some((ports, serve(&program, &folder, ports, key.as_deref())?))
        });
        let Some((ports, server)) = started else {
            panic!("Restate does not start: {}", folder.logged());
        };
        Some(Restate {
            program,
            ports,
            key,
            server,
            folder,
        })
    }

    /// The address at which handlers are called.
    pub fn ingress(&self) -> String {
        format!("http://127.0.0.1:{}", self.ports.ingress)
    }

    /// The address at which services are registered, and invocations looked at and cancelled.
    pub fn admin(&self) -> String {
        format!("http://127.0.0.1:{}", self.ports.admin)
    }

    /// Kills the server (`kill -9`).
    pub fn kill(&mut self) {
        process::end(&mut self.server, "KILL");
    }

    /// Starts the server again, on the same ports, after [`kill`](Restate::kill).
    ///
    /// # Panics
    ///
    /// It does not start.
    pub fn start_again(&mut self) {
        match serve(&self.program, &self.folder, self.ports, self.key.as_deref()) {
            Some(server) => self.server = server,
            None => panic!("Restate does not start again: {}", self.folder.logged()),
        }
    }
}

impl Drop for Restate {
    fn drop(&mut self) {
        process::end(&mut self.server, "KILL");
    }
}

/// The program itself, in the folder `restate` of the target folder, or, for the programs of
/// `benches`, of the target folder of the project: npm's is a script that starts it, and would not
/// end it.
fn installed() -> Option<PathBuf> {
    let test = std::env::current_exe().ok()?;
    let packages = test
        .ancestors()
        .flat_map(|folder| [folder.join("restate"), folder.join("target/restate")])
        .map(|restate| restate.join("node_modules/@restatedev"))
        .find(|packages| packages.is_dir())?;
    fs::read_dir(packages)
        .ok()?
        .flatten()
        .map(|package| package.path().join("bin/restate-server"))
        .find(|program| program.is_file() && !is_script(program))
}

fn is_script(program: &Path) -> bool {
    let mut first = [0; 2];
    let read = fs::File::open(program).and_then(|mut file| file.read_exact(&mut first));
    read.is_ok() && first == *b"#!"
}

/// Runs the server. `None` if it ends before it answers.
fn serve(program: &Path, folder: &Folder, ports: Ports, key: Option<&Path>) -> Option<Child> {
    let address = |port: u16| format!("127.0.0.1:{port}");
    let mut restate = folder.command(program);
    restate
        .args(["--node-name", "test", "--base-dir", "data"])
        .env("RESTATE_INGRESS__BIND_ADDRESS", address(ports.ingress))
        .env("RESTATE_ADMIN__BIND_ADDRESS", address(ports.admin))
        .env("RESTATE_BIND_ADDRESS", address(ports.node))
        .env("RESTATE_DISABLE_TELEMETRY", "true")
        .env("RESTATE_LOG_DISABLE_ANSI_CODES", "true")
        .stdout(folder.log())
        .stderr(folder.log());
    if let Some(key) = key {
        restate.env("RESTATE_REQUEST_IDENTITY_PRIVATE_KEY_PEM_FILE", key);
    }
    let mut server = restate.spawn().expect("Restate can be started");
    folder.write("restate.pid", &server.id().to_string());

    process::is_up(&mut server, ports.ingress, || {
        is_well(ports.ingress, "/restate/health") && is_well(ports.admin, "/health")
    })
    .then_some(server)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_known_by_its_beginning() {
        let folder = tempfile::tempdir().unwrap();
        for (text, expected) in [("#!/bin/sh\n", true), ("\x7fELF", false), ("#", false)] {
            let file = folder.path().join("program");
            fs::write(&file, text).unwrap();
            assert_eq!(is_script(&file), expected, "{text}");
        }
    }
}
