//! A server, a page and a command line for the flows. `cargo run -- --help` lists the commands.

mod flows;

use std::process::ExitCode;

use typed_flows::server::Program;

#[tokio::main]
async fn main() -> ExitCode {
    Program::new().flow(flows::Refund::new()).run().await
}
