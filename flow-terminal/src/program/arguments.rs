//! The arguments of the command line.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::input::InputArguments;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Run a flow to an end, and print its output as JSON.
    Run(Run),
    /// Load flows from JSON or YAML, and report their problems.
    Check(Check),
    /// List the flows of this program, and the nodes that documents may use.
    Flows(Flows),
}

#[derive(Debug, Args)]
#[command(after_help = "\
A VALUE is JSON if that is what the flow takes, and otherwise text: `name=Ann amount=30 tags='[\"new\"]'`.

Exit code: 0 if the flow reached an end, 1 if it failed, 2 if it was not run.")]
pub(super) struct Run {
    /// The name of a flow of this program, or the path of a flow as JSON or YAML.
    #[arg(value_name = "FLOW|FILE")]
    pub(super) flow: String,
    #[command(flatten)]
    pub(super) input: InputArguments,
    /// Do not print progress.
    #[arg(long, short)]
    pub(super) quiet: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The documents of a folder can name one another's flows.

Exit code: 0 if nothing is wrong, 1 otherwise.")]
pub(super) struct Check {
    /// Flows as JSON or YAML, and folders of them.
    #[arg(value_name = "FILE|FOLDER", required = true)]
    pub(super) paths: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct Flows {
    /// Print JSON.
    #[arg(long)]
    pub(super) json: bool,
}
