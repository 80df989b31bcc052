//! What the server bears. The server is a process of its own, with an SQLite file that survives a loss of power.
//!
//! ```sh
//! server watch [CLIENTS]   # clients that watch one execution, among them some that never read
//! server start [A SECOND]  # executions started over HTTP
//! ```

mod http;
mod load;
mod serve;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .expect("tokio starts");
    let done = match arguments[..] {
        ["serve", file] => runtime.block_on(serve::serve(file)),
        ["watch"] => runtime.block_on(load::watch(1000)),
        ["watch", clients] => runtime.block_on(load::watch(clients.parse().unwrap_or(1000))),
        ["start"] => runtime.block_on(load::start(200)),
        ["start", rate] => runtime.block_on(load::start(rate.parse().unwrap_or(200))),
        _ => Err("server watch [CLIENTS] | start [A SECOND]".into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
