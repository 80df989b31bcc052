//! The load that a server bears: ours, with an SQLite file that survives a loss of power, or
//! LangGraph's dev server, which keeps everything in memory. The server is a separate process.
//! Prints the figures as JSON.
//!
//! ```sh
//! server watch [CLIENTS] [MS]  # clients of one execution, a step every MS; some never read
//! server start [A SECOND]      # executions started over HTTP
//! server langgraph ENVIRONMENT GRAPHS watch|start …  # the same with LangGraph's dev server
//! ```

mod http;
mod load;
mod serve;
mod server;

use std::path::Path;
use std::process::ExitCode;

use server::Kind;

/// Returns the argument at this place, or `otherwise`.
fn number<T: std::str::FromStr>(arguments: &[&str], at: usize, otherwise: T) -> T {
    let number = arguments.get(at).and_then(|text| text.parse().ok());
    number.unwrap_or(otherwise)
}

async fn loaded(kind: Kind<'_>, arguments: &[&str]) -> http::Result<()> {
    let figures = match *arguments {
        ["watch", ref more @ ..] => {
            load::watch(kind, number(more, 0, 1000), number(more, 1, 100)).await?
        }
        ["start", ref more @ ..] => load::start(kind, number(more, 0, 200)).await?,
        _ => {
            return Err(
                "server [langgraph ENVIRONMENT GRAPHS] watch [CLIENTS] [MS] | start [A SECOND]"
                    .into(),
            );
        }
    };
    println!("{figures}");
    Ok(())
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
        ["langgraph", environment, graphs, ref more @ ..] => {
            let kind = Kind::LangGraph(Path::new(environment), Path::new(graphs));
            runtime.block_on(loaded(kind, more))
        }
        ref all => runtime.block_on(loaded(Kind::Ours, all)),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
