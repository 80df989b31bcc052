//! What the server bears. The server is a process of its own, with an SQLite file that survives a loss of power.
//!
//! ```sh
//! server watch [CLIENTS] [MS]  # clients that watch one execution with a step every so often, among them some that never read
//! server start [A SECOND]      # executions started over HTTP
//! ```

mod http;
mod load;
mod serve;

use std::process::ExitCode;

/// The argument at this place, or else this.
fn number<T: std::str::FromStr>(arguments: &[&str], at: usize, otherwise: T) -> T {
    let number = arguments.get(at).and_then(|text| text.parse().ok());
    number.unwrap_or(otherwise)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .expect("tokio starts");
    let done = match arguments[..] {
        ["serve", file] => runtime.block_on(serve::serve(file)),
        ["watch", ref more @ ..] => {
            runtime.block_on(load::watch(number(more, 0, 1000), number(more, 1, 100)))
        }
        ["start", ref more @ ..] => runtime.block_on(load::start(number(more, 0, 200))),
        _ => Err("server watch [CLIENTS] [MS] | start [A SECOND]".into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
