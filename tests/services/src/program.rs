//! Programs of this repository that tests run.

use std::env::{self, consts::EXE_SUFFIX};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Set where all programs are built before the first test runs, by `cargo build --workspace --all-features --examples` and
/// `cargo test` of the same. To build one of them alone would compile what it depends on once more, with fewer features.
const ALREADY_BUILT: &str = "FLOW_TESTS_PROGRAMS_ARE_BUILT";

/// The path of an example of a package in the workspace, which is built first unless everything is.
///
/// `options` are those of `cargo build`, such as `--all-features`.
///
/// # Panics
///
/// It cannot be built.
pub fn example(package: &str, name: &str, options: &[&str]) -> PathBuf {
    let program = target()
        .join("examples")
        .join(format!("{name}{EXE_SUFFIX}"));
    build(&program, package, &[&["--example", name], options].concat());
    program
}

/// The path of a program of a package in the workspace, which is built first unless everything is.
///
/// # Panics
///
/// It cannot be built.
pub fn program(package: &str, name: &str) -> PathBuf {
    let program = target().join(format!("{name}{EXE_SUFFIX}"));
    build(&program, package, &["--bin", name]);
    program
}

fn build(program: &Path, package: &str, options: &[&str]) {
    if env::var_os(ALREADY_BUILT).is_some() {
        assert!(program.exists(), "{} is not built", program.display());
        return;
    }
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(env!("CARGO_MANIFEST_DIR"));
    cargo.args(["build", "--quiet", "--locked", "--package", package]);
    let output = cargo.args(options).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
}

/// The folder of what is built with the same profile as this test, which is in `deps` of it.
fn target() -> PathBuf {
    let test = env::current_exe().unwrap();
    test.ancestors().nth(2).unwrap().to_owned()
}
