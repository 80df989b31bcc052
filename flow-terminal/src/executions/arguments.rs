//! The arguments of the command line.

use clap::{Args, Subcommand};
use flow_durable::Status;

use crate::output::pair;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// List executions, the newest first.
    List(List),
    /// Show an execution: its output, its questions, its signals and its history.
    Show(Show),
    /// Print the events of an execution, one per line.
    Events(Events),
    /// Answer the question of an execution.
    Answer(Answer),
    /// Send a signal to an execution.
    Signal(Signal),
    /// Cancel an execution. What its steps have done is undone first, if they can be undone.
    Cancel(Cancel),
    /// Try an execution again that has failed or is halted, at the step that failed.
    Retry(Retry),
    /// Start a copy of an execution that continues from a record, optionally with other values.
    Copy(Copy),
    /// Delete an execution with its journal. A running execution is cancelled.
    Delete(Delete),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Each line has an id, the time of the start, the status and the flow. As many digits of the id are shown as
the other commands need.

Examples:
  … list --status paused
  … list --flow Claim --limit 10 --json")]
pub(super) struct List {
    /// Only executions of this flow.
    #[arg(long)]
    pub(super) flow: Option<String>,
    /// Only executions with this status: queued, running, paused, cancelling, completed, failed or
    /// cancelled.
    #[arg(long, value_parser = status)]
    pub(super) status: Option<Status>,
    /// The maximum number of executions.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) limit: u16,
    /// Only executions older than this one.
    #[arg(long, value_name = "ID")]
    pub(super) before: Option<String>,
    /// Print JSON.
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  … show 019a4c1e-7
  … show 019a4c1e-7 --at 12    the values after record 12, as JSON")]
pub(super) struct Show {
    /// The id of the execution, or its first digits: see `list`.
    #[arg(value_name = "ID")]
    pub(super) execution: String,
    /// Show the values after this record.
    #[arg(long, value_name = "SEQ")]
    pub(super) at: Option<u64>,
    /// Print JSON.
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  … events 019a4c1e-7
  … events 019a4c1e-7 --follow --json")]
pub(super) struct Events {
    /// The id of the execution, or its first digits: see `list`.
    #[arg(value_name = "ID")]
    pub(super) execution: String,
    /// Continue until the execution is over.
    #[arg(long, short)]
    pub(super) follow: bool,
    /// Print JSON, one object per line.
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A VALUE is JSON if that is what is asked for, and otherwise text. `show` prints the questions.

Examples:
  … answer 019a4c1e-7 yes
  … answer 019a4c1e-7 '{\"Approve\": {\"comment\": \"have fun\"}}'
  … answer 019a4c1e-7 250 --node claim.limit    if several nodes ask")]
pub(super) struct Answer {
    /// The id of the execution, or its first digits: see `list`.
    #[arg(value_name = "ID")]
    pub(super) execution: String,
    /// The answer.
    pub(super) value: String,
    /// The node that asks, if several do.
    #[arg(long)]
    pub(super) node: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
BODY is JSON if the signal is not a text, and nothing for a signal without fields. The program needs the
flow of the execution. `show` prints what the execution waits for.

Examples:
  … signal 019a4c1e-7 CancelRequest '{\"reason\": \"too late\"}'
  … signal 019a4c1e-7 Delivered --idempotency-key parcel-17")]
pub(super) struct Signal {
    /// The id of the execution, or its first digits: see `list`.
    #[arg(value_name = "ID")]
    pub(super) execution: String,
    /// The name of the signal.
    pub(super) name: String,
    /// The body of the signal.
    pub(super) body: Option<String>,
    /// Another signal with this key is not sent again.
    #[arg(long, value_name = "KEY")]
    pub(super) idempotency_key: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
An execution whose steps can be undone is `cancelling` until a process that has its flow has undone them. If
they cannot be undone, `--without-undoing` ends it as it is, and prints what stays.

Examples:
  … cancel 019a4c1e-7 \"ordered twice\"
  … cancel 019a4c1e-7 \"the bank is gone\" --without-undoing")]
pub(super) struct Cancel {
    /// The id of the execution, or its first digits: see `list`.
    #[arg(value_name = "ID")]
    pub(super) execution: String,
    /// The reason, which the execution and its last record contain.
    pub(super) reason: String,
    /// End it at once, and leave as it is what its steps have done.
    #[arg(long)]
    pub(super) without_undoing: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
First mend the cause: `show` prints it. What was done stays done, and the step that failed has all its attempts
again. To try something else, from any record and with other values, see `copy`.

Examples:
  … retry 019a4c1e-7
  … retry 019a4c1e-7 --more-steps 1000    if it is halted because its budget of steps is used up")]
pub(super) struct Retry {
    /// The id of the execution, or its first digits: see `list`.
    #[arg(value_name = "ID")]
    pub(super) execution: String,
    /// The steps to add to its budget.
    #[arg(long, value_name = "STEPS")]
    pub(super) more_steps: Option<u64>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  … copy 019a4c1e-7 12
  … copy 019a4c1e-7 12 amount=40    with another value for the key `amount`")]
pub(super) struct Copy {
    /// The id of the execution, or its first digits: see `list`.
    #[arg(value_name = "ID")]
    pub(super) execution: String,
    /// The number of the last record that the copy shares: see `show`.
    pub(super) seq: u64,
    /// Other values for keys of the outermost flow, as JSON or text.
    #[arg(value_name = "KEY=VALUE", value_parser = pair)]
    pub(super) values: Vec<(String, String)>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  … delete 019a4c1e-7")]
pub(super) struct Delete {
    /// The id of the execution, or its first digits: see `list`.
    #[arg(value_name = "ID")]
    pub(super) execution: String,
}

fn status(text: &str) -> Result<Status, String> {
    text.parse().map_err(|_| {
        "queued, running, paused, cancelling, completed, failed or cancelled".to_owned()
    })
}
