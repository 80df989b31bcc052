//! What the command line says.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use flow_terminal::InputArguments;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Start an execution, and wait until it is over or waits for people.
    Start(Start),
    /// Serve executions over HTTP, with the studio, and work on them.
    Serve(Serve),
    /// Work on executions that were started elsewhere, until the process is interrupted.
    Worker,
    /// Print completions for a shell.
    Completions(Completions),
}

#[derive(Debug, Args)]
#[command(after_help = "\
A VALUE is JSON if that is what the flow takes, and otherwise text: `name=Ann amount=30 tags='[\"new\"]'`.

Exit code: 0 if it is completed, paused or detached, 1 if it failed or was cancelled, 2 if nothing was started.")]
pub(super) struct Start {
    /// The name of a flow of this program, or the path of a flow as JSON or YAML.
    #[arg(value_name = "FLOW|FILE")]
    pub(super) flow: String,
    #[command(flatten)]
    pub(super) input: InputArguments,
    /// Another start with this key returns the execution that the first one started.
    #[arg(long, value_name = "KEY")]
    pub(super) idempotency_key: Option<String>,
    /// The owner of the execution.
    #[arg(long)]
    pub(super) owner: Option<String>,
    /// Do not wait: a worker goes on with it.
    #[arg(long)]
    pub(super) detach: bool,
}

#[derive(Debug, Args)]
pub(super) struct Serve {
    /// The address and the port.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7878")]
    pub(super) listen: String,
    /// A file with lines `operator TOKEN` and `owner NAME TOKEN`. Without it, only this machine is let in.
    #[arg(long, value_name = "FILE")]
    pub(super) tokens: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct Completions {
    /// The shell.
    pub(super) shell: clap_complete::Shell,
}
