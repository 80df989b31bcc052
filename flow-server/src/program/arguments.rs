//! The arguments of the command line.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use clap::{Args, Subcommand};
use flow_terminal::InputArguments;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Start an execution, and wait until it ends, or waits for people or a signal.
    Start(Start),
    /// Serve executions over HTTP, with the studio, and run them.
    Serve(Serve),
    /// Run executions that were started elsewhere, until the process is interrupted.
    Worker(Work),
    /// List the schedules and their next times.
    #[cfg(feature = "schedule")]
    Schedules(Schedules),
    /// List large values of executions that are gone, or remove these values.
    #[cfg(feature = "blobs")]
    Orphans(Orphans),
    /// Print completions for a shell.
    Completions(Completions),
}

#[derive(Debug, Args)]
#[command(after_help = "\
A VALUE is JSON if that is what the flow takes, and otherwise text:
`name=Ann amount=30 tags='[\"new\"]'`.

Exit code: 0 if it is completed, paused or detached, 1 if it failed or was cancelled, 2 if nothing
was started.")]
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
    /// Return at once; a worker runs the execution.
    #[arg(long)]
    pub(super) detach: bool,
    /// The priority among queued executions; higher ones begin first.
    #[arg(
        long,
        value_name = "NUMBER",
        requires = "detach",
        allow_hyphen_values = true
    )]
    pub(super) priority: Option<i32>,
    /// The earliest time to begin: `2026-12-24T18:00:00Z`.
    #[arg(long, value_name = "TIME", requires = "detach", value_parser = time)]
    pub(super) not_before: Option<SystemTime>,
    /// Begin only while fewer than this many executions with this key are in progress.
    #[arg(long, value_name = "KEY=NUMBER", requires = "detach", value_parser = key_and_number)]
    pub(super) concurrency_key: Option<(String, NonZeroU32)>,
}

#[derive(Debug, Args)]
pub(super) struct Serve {
    /// The address and port to listen on.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7878")]
    pub(super) listen: String,
    /// A file with lines `operator TOKEN` and `owner NAME TOKEN`. Without it, only this machine is
    /// let in.
    #[arg(long, value_name = "FILE")]
    pub(super) tokens: Option<PathBuf>,
    /// An SQLite file with flows that operators edit, built from the nodes of this program. It is
    /// created if it does not exist.
    #[cfg(feature = "definitions")]
    #[arg(long, value_name = "FILE")]
    pub(super) definitions: Option<PathBuf>,
    #[command(flatten)]
    pub(super) work: Work,
}

/// The limits on the work of a process.
#[derive(Debug, Args)]
pub(super) struct Work {
    /// The maximum number of executions that run here at once, unlimited by default. With 0,
    /// `serve` leaves them to workers.
    #[arg(long, value_name = "NUMBER")]
    pub(super) concurrent: Option<usize>,
    /// The maximum number of executions of a flow that run here at once.
    #[arg(long, value_name = "FLOW=NUMBER", value_parser = flow_and_number)]
    pub(super) concurrent_of: Vec<(String, usize)>,
    /// The seconds that running steps have to finish when the process is asked to end.
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    drain: u64,
}

impl Work {
    pub(super) fn drain(&self) -> Duration {
        Duration::from_secs(self.drain)
    }
}

fn flow_and_number(text: &str) -> Result<(String, usize), String> {
    let wrong = || "write the name of a flow and a number: `Claim=2`".to_owned();
    let (flow, number) = text.split_once('=').ok_or_else(wrong)?;
    Ok((flow.to_owned(), number.parse().map_err(|_| wrong())?))
}

fn key_and_number(text: &str) -> Result<(String, NonZeroU32), String> {
    let wrong = || "write a key and a number of 1 or more: `customer 7=2`".to_owned();
    let (key, number) = text.rsplit_once('=').ok_or_else(wrong)?;
    Ok((key.to_owned(), number.parse().map_err(|_| wrong())?))
}

fn time(text: &str) -> Result<SystemTime, String> {
    let wrong = |_| "write a time as `2026-12-24T18:00:00Z`".to_owned();
    humantime::parse_rfc3339_weak(text).map_err(wrong)
}

#[cfg(feature = "blobs")]
#[derive(Debug, Args)]
#[command(after_help = "\
An execution is gone if the store that `--store` names does not have it. So this asks for the right
store, together with `--blobs`: of another one, everything is gone.")]
pub(super) struct Orphans {
    /// Remove these values.
    #[arg(long)]
    pub(super) delete: bool,
    /// Only values of executions that were started longer ago: `2h`, `30m`.
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = duration)]
    pub(super) older_than: Duration,
}

#[cfg(feature = "blobs")]
fn duration(text: &str) -> Result<Duration, String> {
    let wrong = |_| "write a number and a unit: `2h`, `30m`".to_owned();
    humantime::parse_duration(text).map_err(wrong)
}

#[cfg(feature = "schedule")]
#[derive(Debug, Args)]
pub(super) struct Schedules {
    /// Print JSON.
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct Completions {
    /// The shell.
    pub(super) shell: clap_complete::Shell,
}
