//! Starts servers for tests and benchmarks: each in a temporary folder and on a free port of this
//! machine.
//!
//! A server ends, and its folder is removed, when its handle is dropped, and also when the process
//! ends in any other way: a small shell waits for the end of a pipe that only this process holds.
//! A server that is not installed is `None`, after a line that says so. Where the variable `CI` is
//! set, that is a failure.
//!
//! Programs of this repository that tests run are [built](example) here as well.
//!
//! `cargo run --package flow-services -- postgres` starts one by hand, and prints its address; so
//! do `-- redis`, `-- restate` and `-- s3`.

mod http;
mod pgbouncer;
mod postgres;
mod process;
mod program;
mod redis;
mod restate;
mod s3;
mod system;

pub use pgbouncer::PgBouncer;
pub use postgres::Postgres;
pub use program::{example, program};
pub use redis::Redis;
pub use restate::Restate;
pub use s3::S3;

use std::path::{Path, PathBuf};

/// The program in one of these folders or in one of the `PATH`. `None`, after a line that says so,
/// if it is not installed.
///
/// # Panics
///
/// It is not installed, and the variable `CI` is set.
fn installed(program: &str, folders: &[PathBuf], package: &str) -> Option<PathBuf> {
    if !cfg!(unix) {
        println!("skipped: {program} is started on a Unix only");
        return None;
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = folders
        .iter()
        .cloned()
        .chain(std::env::split_paths(&path))
        .map(|folder| folder.join(program))
        .find(|file| Path::is_file(file));
    if found.is_none() {
        missing(program, &format!("Debian's package `{package}`"));
    }
    found
}

/// Says that a program is not installed.
///
/// # Panics
///
/// The variable `CI` is set.
fn missing(program: &str, package: &str) {
    assert!(
        std::env::var_os("CI").is_none(),
        "no {program}: install {package}, as `.ci/install` does"
    );
    println!("skipped: there is no {program}, which `.ci/install` installs");
}
