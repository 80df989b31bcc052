//! A command line for flows in the program and in documents.

mod arguments;
mod bars;
mod check;
mod input;
mod list;
mod run;
mod running;

pub use input::InputArguments;

use std::fmt;
use std::process::ExitCode;
use std::sync::Arc;

use crate::output;
use arguments::Command;
use clap::{ArgMatches, FromArgMatches as _, Subcommand as _};
use flow_loader::Registry;
use flow_runtime::engine::{AnyFlow, Observed};

/// A flow that this program can run.
type Runnable = dyn for<'r> AnyFlow<Observed<'r>>;

/// A command line for flows, which makes a program with flows a tool.
///
/// | | |
/// |---|---|
/// | `run FLOW --input x.json` | runs a flow of the program, with the input from a file |
/// | `run flow.yaml key=value` | runs the flow in a file, with the input from the command line |
/// | `check flow.yaml flows/` | loads documents, and reports problems with line and column |
/// | `flows` | lists the flows of the program, and the nodes that documents may use |
///
/// The output is JSON on standard output; progress and errors go to standard error. At a terminal,
/// progress moves: each running node has a line, which counts the items of a loop. Elsewhere, each
/// event is a line. Questions are asked at the [`Terminal`](crate::Terminal). The exit code is 0 if
/// the flow reached an end, 1 if it failed or a check found something, and 2 if nothing was run.
///
/// # Examples
///
/// ```no_run
/// use std::process::ExitCode;
///
/// use flow_loader::registry;
/// use flow_runtime::prelude::*;
/// use flow_terminal::Program;
///
/// #[node]
/// fn greet(name: &str) -> String {
///     format!("Hello, {name}!")
/// }
///
/// flow! {
///     /// Greets somebody.
///     Greeting(name: String) -> (greet: String) {
///         start >> greet >> end;
///     }
/// }
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> ExitCode {
///     let program = Program::new().flow(Greeting::new()).nodes(registry![greet]);
///     program.run().await
/// }
/// ```
///
/// ```text
/// $ greetings run Greeting name=Ann
/// greeting.greet started
/// greeting.greet finished: default
/// greeting ended: default
/// {
///   "greet": "Hello, Ann!",
///   "end": "default"
/// }
/// ```
#[derive(Clone, Default)]
#[must_use = "nothing happens until it is run"]
pub struct Program {
    flows: Vec<Arc<Runnable>>,
    nodes: Registry,
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program")
            .field("flows", &self.names().collect::<Vec<_>>())
            .field("nodes", &self.nodes)
            .finish()
    }
}

impl Program {
    /// Creates a program without flows.
    pub fn new() -> Self {
        Program::default()
    }

    /// Adds a flow under its name: one whose values are `Serialize` and `Deserialize`, or a loaded
    /// one. It replaces a flow with the same name.
    pub fn flow(mut self, flow: impl for<'r> AnyFlow<Observed<'r>> + 'static) -> Self {
        let flow: Arc<Runnable> = Arc::new(flow);
        self.flows.retain(|other| other.name() != flow.name());
        self.flows.push(flow);
        self
    }

    /// Adds the nodes that documents may use.
    pub fn nodes(mut self, nodes: Registry) -> Self {
        self.nodes = self.nodes.with(nodes);
        self
    }

    /// Returns the command line, to which a program can add its own commands.
    ///
    /// # Examples
    ///
    /// ```
    /// use flow_terminal::Program;
    ///
    /// let command = Program::new().command().subcommand(clap::Command::new("serve"));
    /// let matches = command.try_get_matches_from(["claims", "serve"]).unwrap();
    /// // For the other commands: `program.execute(&matches).await`.
    /// assert_eq!(matches.subcommand_name(), Some("serve"));
    /// ```
    pub fn command(&self) -> clap::Command {
        let command = clap::Command::new("flows").about("Runs and checks flows");
        Command::augment_subcommands(command)
            .subcommand_required(true)
            .arg_required_else_help(true)
    }

    /// Executes the parsed command line and returns the exit code. Prints an error for a command
    /// that is not one of [`command`](Self::command).
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the run is dropped at its current `.await`.
    pub async fn execute(&self, matches: &ArgMatches) -> ExitCode {
        let done = match Command::from_arg_matches(matches) {
            Ok(Command::Run(run)) => self.run_flow(&run).await,
            Ok(Command::Check(check)) => self.check(&check),
            Ok(Command::Flows(flows)) => self.list(&flows),
            Err(error) => Err(error.to_string()),
        };
        output::exit_code(done)
    }

    /// Parses and executes the arguments of the process, and returns the exit code. If they are
    /// invalid or ask for help, prints a message and ends the process.
    pub async fn run(self) -> ExitCode {
        let matches = self.command().get_matches();
        self.execute(&matches).await
    }

    fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.flows.iter().map(|flow| flow.name())
    }
}
