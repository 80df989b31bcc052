//! What the command line says.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Run a flow to an end, and print its output as JSON.
    Run(Run),
    /// Load flows from JSON or YAML, and say what is wrong with them.
    Check(Check),
    /// List the flows of this program, and the nodes that documents may use.
    List(List),
}

#[derive(Debug, Args)]
#[command(after_help = "\
A VALUE is JSON if that is what the flow takes, and otherwise text: `name=Ann amount=30 tags='[\"new\"]'`.

Exit code: 0 if the flow reached an end, 1 if it failed, 2 if it was not run.")]
pub(super) struct Run {
    /// The name of a flow of this program, or the path of a flow as JSON or YAML.
    #[arg(value_name = "FLOW|FILE")]
    pub(super) flow: String,
    /// Values of the input. They are taken instead of those in the file.
    #[arg(value_name = "KEY=VALUE", value_parser = pair)]
    pub(super) values: Vec<(String, String)>,
    /// A JSON file with the input, an object; `-` is the standard input.
    #[arg(long, value_name = "FILE")]
    pub(super) input: Option<PathBuf>,
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
pub(super) struct List {
    /// Print JSON.
    #[arg(long)]
    pub(super) json: bool,
}

fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("write KEY=VALUE".to_owned()),
    }
}
