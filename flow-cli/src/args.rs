//! The command line.

#[cfg(feature = "executions")]
mod executions;

use std::path::PathBuf;

use clap::builder::Styles;
use clap::{Args, Parser, Subcommand, ValueEnum};
use flow_spec::document::DEFAULT_DEPTH;

use crate::style;
#[cfg(feature = "executions")]
pub(crate) use executions::Executions;

/// Shows, checks and compares the flows in built programs, libraries and WebAssembly modules,
/// without running them, formats `flow!` in source files, and makes new projects.
///
/// FILE is an executable, a shared or static library, an rlib, an object, a WebAssembly module, or
/// a flow as JSON or YAML, including OpenAgents workflows and FlowDefinitions. Without FILE, builds
/// and reads the package in the current directory.
#[derive(Debug, Parser)]
#[command(
    name = "cargo-flow",
    bin_name = "cargo flow",
    version,
    styles = STYLES,
    after_help = "\
Examples:
  cargo flow new refunds                           a project with a flow and a server
  cargo flow list                                  the flows of the package here
  cargo flow export --out flows                    one JSON for each, in the folder `flows`
  cargo flow check flows                           whether that folder is up to date, for CI
  cargo flow render target/release/app --flow Qa   a picture of one flow
  cargo flow diff flows target/release/app         what changed, and what that breaks
  cargo flow source draft.yaml                     a flow as Rust
  cargo flow fmt                                   lays out the `flow!` in the sources here

Exit code: 0 if all is well, 1 if a check or comparison finds something, 2 if it cannot be made."
)]
pub(crate) struct Cli {
    /// The command.
    #[command(subcommand)]
    pub(crate) command: Command,
    /// When to use colours: `auto` means on a terminal.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Make a project that serves a flow, with tests, CI and a Dockerfile.
    New(New),
    /// List the flows with their inputs, outputs and ends.
    List(List),
    /// Write the flows as JSON or YAML.
    Export(Export),
    /// Draw the flows.
    Render(Render),
    /// Check that exported flows are up to date, or that flows in JSON or YAML are sound.
    Check(Check),
    /// Show what changed between two versions, and what the changes break.
    Diff(Diff),
    /// Print the flows as `flow!`.
    Source(Source),
    /// Format the `flow!` in source files, and flows in JSON or YAML.
    Fmt(Fmt),
    /// Inspect the executions of a store, without the flows: list, show, answer, cancel and more.
    #[cfg(feature = "executions")]
    Executions(Executions),
    /// Print the completions for a shell.
    Completions(Completions),
}

/// `cargo flow new`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo flow new refunds
  cargo flow new refunds --path ../typed-flows")]
pub(crate) struct New {
    /// The name of the package, and of the folder that is made here.
    pub(crate) name: String,
    /// A folder with a copy of typed-flows. By default, the project gets the version of this
    /// program from the registry.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) path: Option<PathBuf>,
}

/// `cargo flow list`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo flow list
  cargo flow list target/release/app
  cargo flow list --package shop --release --json")]
pub(crate) struct List {
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// The source of the flows.
    #[command(flatten)]
    pub(crate) source: Place,
}

/// `cargo flow export`
#[derive(Debug, Args)]
#[command(after_help = "\
Without --out, one flow is printed as a document, and several as a list of documents.

Examples:
  cargo flow export --out flows
  cargo flow export target/release/app --flow ExpenseApproval > expense_approval.json
  cargo flow export draft.json --out draft.yaml
  cargo flow export plugin.wasm --depth 0")]
pub(crate) struct Export {
    /// The flows to write.
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// The number of levels of nested flows to write.
    #[arg(long, value_name = "LEVELS", default_value_t = DEFAULT_DEPTH)]
    pub(crate) depth: usize,
    /// JSON or YAML. By default, the file's extension decides, or else JSON.
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<TextFormat>,
    /// Write each flow to a separate file in this folder, named after its namespace; or one flow to
    /// this file, if its name has an extension: `qa.json`.
    #[arg(long, value_name = "DIR|FILE")]
    pub(crate) out: Option<PathBuf>,
    /// The source of the flows.
    #[command(flatten)]
    pub(crate) source: Place,
}

/// `cargo flow render`
#[derive(Debug, Args)]
#[command(after_help = "\
On the screen, a flow is drawn as text unless a format is given: a line for each arrow, and in braces the keys that
travel along it. A file has the format of its ending. A folder gets a page for each flow, to open in a browser.

Examples:
  cargo flow render
  cargo flow render --out pages/
  cargo flow render target/release/app --flow ExpenseApproval --out expense.svg
  cargo flow render --flow ExpenseApproval --direction LR --out wide.svg
  cargo flow render flows/expense_approval.json --format mermaid")]
pub(crate) struct Render {
    /// The flows to draw.
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// The format. By default text, that of the file's extension, or pages in a folder.
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<Format>,
    /// The direction of a picture, as Mermaid and Graphviz call it. By default TB.
    #[arg(long, value_name = "DIRECTION", ignore_case = true)]
    pub(crate) direction: Option<Direction>,
    /// Write to this file, if its name has an extension: `qa.svg`. Otherwise, write each flow to a
    /// separate file in this folder.
    #[arg(long, value_name = "FILE|DIR")]
    pub(crate) out: Option<PathBuf>,
    /// The source of the flows.
    #[command(flatten)]
    pub(crate) source: Place,
}

/// `cargo flow check`
#[derive(Debug, Args)]
#[command(
    override_usage = "cargo flow check [OPTIONS] DIR [FILE]\n       cargo flow check FLOW.json|FLOW.yaml...",
    after_help = "\
With a folder: whether it has the flows of FILE, or of the package here, and nothing else. `cargo flow export --out`
writes it. Changes are shown as `cargo flow diff` shows them.
With flows in JSON or YAML: whether they are sound. Each problem comes with its line and column. The codes, such as F007,
are those of the compiler's messages.

Examples:
  cargo flow check flows
  cargo flow check flows target/release/app
  cargo flow check flows/expense_approval.json drafts/*.yaml"
)]
pub(crate) struct Check {
    /// A folder of exported flows, or a flow as JSON or YAML.
    #[arg(value_name = "PATH")]
    pub(crate) path: PathBuf,
    /// The program to compare the folder with, or more flows.
    #[arg(id = "file", value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// The number of levels of nested flows in the exported folder.
    #[arg(long, value_name = "LEVELS", default_value_t = DEFAULT_DEPTH)]
    pub(crate) depth: usize,
    /// The build of the package.
    #[command(flatten)]
    pub(crate) build: Build,
}

/// `cargo flow diff`
#[derive(Debug, Args)]
#[command(after_help = "\
OLD and NEW are as FILE in the other commands, or folders of flows as JSON or YAML. Flows are compared with those of the same
namespace. Documents have to be sound: see `cargo flow check`. The exit code is 1 if a change breaks callers, or executions that were
started with OLD.

Examples:
  cargo flow diff old/app new/app
  cargo flow diff flows                            the package here, with what was exported
  cargo flow diff flows/qa.json draft.yaml --json")]
pub(crate) struct Diff {
    /// The old version; with `--store`, the current one.
    pub(crate) old: PathBuf,
    /// The new version; by default, the package here.
    #[arg(id = "file", value_name = "NEW")]
    pub(crate) new: Option<PathBuf>,
    /// Show the executions of this store that would break: `sqlite:runs.db`,
    /// `postgres://user@host/database` or `redis://user@host:port`.
    #[cfg(feature = "executions")]
    #[arg(long, value_name = "STORE", conflicts_with = "file")]
    pub(crate) store: Option<flow_terminal::StoreAddress>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// The build of the package.
    #[command(flatten)]
    pub(crate) build: Build,
}

/// `cargo flow source`
#[derive(Debug, Args)]
#[command(after_help = "\
The text compiles to the same flows where their functions and types are in scope. Each node that is a type is declared,
and so is each node with a retry or a timeout, since a flow as JSON does not say which of them are the node's own.

Examples:
  cargo flow source draft.yaml
  cargo flow source target/release/app --flow Qa")]
pub(crate) struct Source {
    /// The flows to print.
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// The source of the flows.
    #[command(flatten)]
    pub(crate) source: Place,
}

/// `cargo flow fmt`
#[derive(Debug, Args)]
#[command(after_help = "\
Only what is between the brackets of a `flow!` changes: its space, and commas before closing brackets. Comments stay
where they are, and Rust in a flow, such as types and values, stays as it is written. A `flow!` that cannot be read is
reported, and left as it is. So is one in the arguments of another macro, without a report.

A flow in JSON or YAML is written as `cargo flow export` writes it. YAML with comments or anchors is left as it is, and so
is a workflow of another tool.

Examples:
  cargo flow fmt
  cargo flow fmt --check                           for CI: exit code 1 if something is not formatted
  cargo flow fmt src/main.rs examples/ flows/qa.json
  cargo flow fmt - < src/main.rs                   for editors")]
pub(crate) struct Fmt {
    /// Files, and folders with all their `.rs` files except in hidden folders and `target`. Flows
    /// as JSON or YAML have to be named. `-` formats standard input to standard output. By default,
    /// the sources of the package here with their modules.
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Write nothing, and print what would change.
    #[arg(long)]
    pub(crate) check: bool,
    /// The package whose sources to format; may be given several times.
    #[arg(short, long, value_name = "SPEC", conflicts_with = "paths")]
    pub(crate) package: Vec<String>,
    /// Format all packages of the workspace.
    #[arg(long, conflicts_with = "paths")]
    pub(crate) workspace: bool,
    /// The package's Cargo.toml.
    #[arg(long, value_name = "PATH", conflicts_with = "paths")]
    pub(crate) manifest_path: Option<PathBuf>,
}

/// `cargo flow completions`
#[derive(Debug, Args)]
#[command(after_help = "\
They complete the command `cargo-flow`.

Examples:
  cargo flow completions bash > ~/.local/share/bash-completion/completions/cargo-flow
  cargo flow completions fish > ~/.config/fish/completions/cargo-flow.fish")]
pub(crate) struct Completions {
    /// The shell.
    pub(crate) shell: clap_complete::Shell,
}

/// The source of the flows.
#[derive(Debug, Args)]
pub(crate) struct Place {
    /// An executable, a library, an object, a WebAssembly module, or a flow as JSON or YAML.
    #[arg(id = "file", value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// The build of the package.
    #[command(flatten)]
    pub(crate) build: Build,
}

/// A selection of flows.
#[derive(Debug, Args)]
pub(crate) struct Selection {
    /// Only the flow of this name or namespace; may be given several times.
    #[arg(long = "flow", value_name = "NAME")]
    pub(crate) flows: Vec<String>,
}

/// The options of `cargo build` for the package.
#[derive(Debug, Default, PartialEq, Eq, Args)]
#[group(id = "build", multiple = true, conflicts_with = "file")]
#[command(next_help_heading = "Build options, without a FILE")]
pub(crate) struct Build {
    /// The package to build; may be given several times.
    #[arg(short, long, value_name = "SPEC")]
    pub(crate) package: Vec<String>,
    /// Build all packages of the workspace that depend on typed-flows.
    #[arg(long)]
    pub(crate) workspace: bool,
    /// Build the library.
    #[arg(long)]
    pub(crate) lib: bool,
    /// Build this executable; may be given several times.
    #[arg(long, value_name = "NAME")]
    pub(crate) bin: Vec<String>,
    /// Build this example; may be given several times.
    #[arg(long, value_name = "NAME")]
    pub(crate) example: Vec<String>,
    /// Build all examples.
    #[arg(long)]
    pub(crate) examples: bool,
    /// Build with optimisations.
    #[arg(short, long)]
    pub(crate) release: bool,
    /// Build with this profile.
    #[arg(long, value_name = "NAME", conflicts_with = "release")]
    pub(crate) profile: Option<String>,
    /// Turn these features on.
    #[arg(short = 'F', long, value_name = "FEATURES")]
    pub(crate) features: Vec<String>,
    /// Turn all features on.
    #[arg(long)]
    pub(crate) all_features: bool,
    /// Leave the default features off.
    #[arg(long)]
    pub(crate) no_default_features: bool,
    /// Leave Cargo.lock as it is.
    #[arg(long)]
    pub(crate) locked: bool,
    /// Build without the network.
    #[arg(long)]
    pub(crate) offline: bool,
    /// Build for this platform.
    #[arg(long, value_name = "TRIPLE")]
    pub(crate) target: Option<String>,
    /// The package's Cargo.toml.
    #[arg(long, value_name = "PATH")]
    pub(crate) manifest_path: Option<PathBuf>,
}

/// The text format of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TextFormat {
    /// JSON.
    Json,
    /// YAML of the same shape.
    Yaml,
}

impl From<TextFormat> for flow_text::Format {
    fn from(format: TextFormat) -> Self {
        match format {
            TextFormat::Json => flow_text::Format::Json,
            TextFormat::Yaml => flow_text::Format::Yaml,
        }
    }
}

/// The format of a drawing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Its arrows in the order of a run, as text for a terminal.
    Text,
    /// Its nodes and nested flows, as text.
    Tree,
    /// A Mermaid diagram, as Markdown viewers show it.
    Mermaid,
    /// A graph for Graphviz.
    Dot,
    /// A picture.
    Svg,
    /// A page with nested flows to expand and collapse.
    Html,
}

/// The direction of a drawing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Direction {
    /// From top to bottom.
    #[value(name = "TB")]
    TopToBottom,
    /// From left to right.
    #[value(name = "LR")]
    LeftToRight,
}

impl From<Direction> for flow_render::Direction {
    fn from(direction: Direction) -> Self {
        match direction {
            Direction::TopToBottom => flow_render::Direction::TopToBottom,
            Direction::LeftToRight => flow_render::Direction::LeftToRight,
        }
    }
}

/// The use of colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

const STYLES: Styles = Styles::styled()
    .header(style::HEADER)
    .usage(style::HEADER)
    .literal(style::LITERAL)
    .error(style::ERROR)
    .valid(style::GOOD)
    .invalid(style::WARNING);
