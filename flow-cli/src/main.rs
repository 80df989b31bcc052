//! The program `cargo-flow`, which cargo runs for `cargo flow`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(flow_cli::run(std::env::args_os()))
}
