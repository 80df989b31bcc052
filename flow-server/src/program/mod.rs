//! A command line for flows: runs, stores and serves them.

mod arguments;
#[cfg(feature = "blobs")]
mod beside;
#[cfg(feature = "definitions")]
mod defined;
mod scheduled;
mod start;
mod work;

use std::convert::Infallible;
use std::fmt;
use std::process::ExitCode;
use std::sync::Arc;

use clap::parser::ValueSource;
use clap::{ArgMatches, FromArgMatches as _, Subcommand as _};
use flow_durable::{Durable, Runtime, RuntimeOptions, Store};
use flow_loader::Registry;
use flow_runtime::engine::{AnyFlow, Observed};
use flow_terminal::{ExecutionCommands, Outcome, StoreAddress, exit_code};

use arguments::Command;
use scheduled::Scheduled;

/// A command line for flows, which makes a program with flows a tool and a server.
///
/// | | |
/// |---|---|
/// | `run FLOW key=value` | runs a flow of the program or of a file, and asks people at the terminal |
/// | `start FLOW key=value` | starts an execution, and waits until it is over, or waits for people or a signal |
/// | `list`, `show`, `events`, `answer`, `signal`, `cancel`, `retry`, `copy`, `delete` | the executions of the store: see [`ExecutionCommands`] |
/// | `serve --listen 127.0.0.1:7878` | serves them over HTTP, with the studio, and works on them |
/// | `worker --concurrent 8` | works on executions that were started elsewhere, this many at once |
/// | `schedules` | lists what is started on schedules, with the feature `schedule` |
/// | `orphans` | lists and removes the large values of executions that are gone, with the feature `blobs` |
/// | `check flow.yaml`, `flows` | checks documents; lists what there is |
/// | `check --store STORE` | checks whether the flows of this program can continue the executions there |
/// | `completions bash` | prints completions for a shell |
///
/// `--store` names the store of executions: `sqlite:runs.db` by default. With the feature
/// `postgres`, it may be a database for several machines, such as `postgres://user@host/database`,
/// and with the feature `redis` a server such as `redis://user@host:port`. With the feature
/// `blobs`, `--blobs FOLDER` keeps values of more than `--blobs-above` bytes beside the store, and
/// with the feature `s3`, in `--blobs s3://bucket/prefix`. Each process on the store needs it. With
/// the feature `definitions`, `serve --definitions FILE` has an editor for flows of the
/// [`nodes`](Program::nodes), kept in an SQLite file; this process runs them. The exit code is 0
/// for success, 1 if a flow failed or a check found something, and 2 if nothing was done.
///
/// # Examples
///
/// ```no_run
/// use std::process::ExitCode;
///
/// use flow_runtime::prelude::*;
/// use flow_server::Program;
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
/// #[tokio::main]
/// async fn main() -> ExitCode {
///     Program::new().flow(Greeting::new()).run().await
/// }
/// ```
///
/// ```text
/// $ greetings serve
/// http://127.0.0.1:7878
/// ```
#[must_use = "nothing happens until it is run"]
pub struct Program {
    terminal: flow_terminal::Program,
    flows: Vec<Arc<dyn AnyFlow<Durable>>>,
    nodes: Registry,
    scheduled: Scheduled,
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Program").field(&self.terminal).finish()
    }
}

impl Default for Program {
    fn default() -> Self {
        Program::new()
    }
}

impl Program {
    /// Creates a program without flows.
    pub fn new() -> Self {
        Program {
            terminal: flow_terminal::Program::new(),
            flows: Vec::new(),
            nodes: Registry::new(),
            scheduled: Scheduled::default(),
        }
    }

    /// Adds a flow under its name. It replaces a flow with the same name.
    pub fn flow<F>(mut self, flow: F) -> Self
    where
        F: for<'r> AnyFlow<Observed<'r>> + AnyFlow<Durable> + 'static,
    {
        let flow = Arc::new(flow);
        self.terminal = self.terminal.flow(flow.clone());
        let flow: Arc<dyn AnyFlow<Durable>> = flow;
        self.flows.retain(|other| other.name() != flow.name());
        self.flows.push(flow);
        self
    }

    /// Adds the nodes that documents may use.
    pub fn nodes(mut self, nodes: Registry) -> Self {
        self.nodes = self.nodes.with(nodes.clone());
        self.terminal = self.terminal.nodes(nodes);
        self
    }

    /// Sets schedules, which `serve` and `worker` run. Failed and missed starts are printed to
    /// standard error. The command `schedules` lists them.
    #[cfg(feature = "schedule")]
    pub fn schedules(mut self, schedules: flow_durable::schedule::Schedules) -> Self {
        self.scheduled = Scheduled::new(schedules);
        self
    }

    /// Returns the command line, to which a program can add its own commands.
    pub fn command(&self) -> clap::Command {
        let store = clap::Arg::new("store")
            .long("store")
            .value_name("STORE")
            .global(true)
            .default_value("sqlite:runs.db")
            .value_parser(|text: &str| Ok::<_, Infallible>(StoreAddress::from(text)))
            .help(
                "Where executions are stored: `sqlite:runs.db`, `postgres://user@host/database` or \
                 `redis://user@host:port`",
            );
        let command = Command::augment_subcommands(self.terminal.command());
        let command = command.mut_subcommand("check", |check| {
            let check = check.mut_arg("paths", |paths| paths.required(false));
            check.after_help(CHECK_HELP)
        });
        let command = ExecutionCommands::add_to(command)
            .about("Runs flows, and looks after their executions")
            .arg(store);
        #[cfg(feature = "blobs")]
        let command = beside::add_to(command);
        command
    }

    /// Executes the parsed command line and returns the exit code. Prints an error for a command
    /// that is not one of [`command`](Self::command).
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the executions of this process stop at their current `.await`.
    /// Another process continues them.
    pub async fn execute(&self, matches: &ArgMatches) -> ExitCode {
        if let Some(("check", arguments)) = matches.subcommand() {
            return self.check(matches, arguments).await;
        }
        let is_own = matches
            .subcommand_name()
            .is_some_and(Command::has_subcommand);
        if !is_own && !ExecutionCommands::has(matches) {
            return self.terminal.execute(matches).await;
        }
        if !is_own {
            return exit_code(self.look(matches).await);
        }
        exit_code(match Command::from_arg_matches(matches) {
            Ok(command) => self.carry_out(&command, matches).await,
            Err(error) => Err(error.to_string()),
        })
    }

    /// Checks documents, and the executions of the store if one is named.
    async fn check(&self, matches: &ArgMatches, arguments: &ArgMatches) -> ExitCode {
        let is_named = arguments.value_source("store") == Some(ValueSource::CommandLine);
        let has_paths = arguments.get_raw("paths").is_some();
        if !is_named && !has_paths {
            let help = "name documents, or the store with the executions by `--store`";
            return exit_code(Err(format!("nothing is to be checked\nhelp: {help}")));
        }
        if is_named {
            let checked = self.check_executions(matches).await;
            if !has_paths || !matches!(checked, Ok(Outcome::Fine)) {
                return exit_code(checked);
            }
        }
        self.terminal.execute(matches).await
    }

    /// Prints the executions that the flows of this program could not continue.
    async fn check_executions(&self, matches: &ArgMatches) -> Result<Outcome, String> {
        let runtime = self.open(matches, leaving_all()).await?;
        let refused = runtime.check_executions().await;
        runtime.shut_down().await;
        let refused = refused.map_err(|error| error.to_string())?;
        for (id, error) in &refused {
            println!(
                "{}",
                flow_spec::visible(&format!("{id} cannot go on: {error}"))
            );
        }
        Ok(if refused.is_empty() {
            println!("all executions can go on");
            Outcome::Fine
        } else {
            Outcome::Found
        })
    }

    /// Executes a command on the executions of the store.
    async fn look(&self, matches: &ArgMatches) -> Result<Outcome, String> {
        let runtime = self.open(matches, leaving_all()).await?;
        let done = ExecutionCommands::execute(matches, &runtime).await;
        runtime.shut_down().await;
        done
    }

    async fn carry_out(&self, command: &Command, matches: &ArgMatches) -> Result<Outcome, String> {
        match command {
            Command::Start(arguments) => {
                let options = if arguments.detach {
                    leaving_all()
                } else {
                    RuntimeOptions::new()
                };
                self.start(arguments, self.open(matches, options).await?)
                    .await
            }
            Command::Serve(arguments) => {
                let options = self.options(&arguments.work)?;
                #[cfg(feature = "definitions")]
                let options = defined::with_versions(arguments, options, &self.nodes);
                let runtime = self.open(matches, options).await?;
                self.serve(arguments, runtime).await
            }
            Command::Worker(arguments) => {
                if arguments.concurrent == Some(0) {
                    let help = "a worker has to run at least one execution at once";
                    return Err(format!(
                        "`--concurrent 0` leaves all work to others\nhelp: {help}"
                    ));
                }
                let options = self.options(arguments)?;
                let runtime = self.open(matches, options).await?;
                work::work(arguments, runtime, &self.scheduled).await
            }
            #[cfg(feature = "schedule")]
            Command::Schedules(arguments) => self.scheduled.list(arguments),
            #[cfg(feature = "blobs")]
            Command::Orphans(arguments) => {
                beside::orphans(arguments, matches, opened(matches).await?).await
            }
            Command::Completions(arguments) => {
                let mut command = self.command();
                let name = command.get_name().to_owned();
                clap_complete::generate(
                    arguments.shell,
                    &mut command,
                    name,
                    &mut std::io::stdout(),
                );
                Ok(Outcome::Fine)
            }
        }
    }

    /// Parses and executes the arguments of the process, and returns the exit code. If they are
    /// invalid or ask for help, prints a message and ends the process.
    pub async fn run(self) -> ExitCode {
        let matches = self.command().get_matches();
        self.execute(&matches).await
    }

    /// Opens the store that the command line names, and creates a runtime on it with all flows.
    async fn open(&self, matches: &ArgMatches, options: RuntimeOptions) -> Result<Runtime, String> {
        let store = opened(matches).await?;
        #[cfg(feature = "blobs")]
        let store = beside::with_blobs(matches, store).await?;
        let runtime = Runtime::with_options(store, options);
        for flow in &self.flows {
            let registered = runtime.register(flow.clone());
            registered.map_err(|error| error.to_string())?;
        }
        Ok(runtime)
    }
}

const CHECK_HELP: &str = "\
The documents of a folder can name one another's flows. With `--store`, the executions there that are
not over are checked as well: whether the flows of this program can continue them.

Exit code: 0 if nothing is wrong, 1 otherwise.";

/// Opens the store that the command line names.
async fn opened(matches: &ArgMatches) -> Result<Arc<dyn Store>, String> {
    let store = matches.get_one::<StoreAddress>("store");
    let store = store.ok_or("no store is named: `--store sqlite:runs.db`")?;
    let opened = store.store().await;
    opened.map_err(|error| store.explain(&error))
}

/// The options of a short-lived process, which leaves all executions to others. If it started one,
/// its exit would interrupt a step, and a worker would repeat the step with all its effects.
fn leaving_all() -> RuntimeOptions {
    RuntimeOptions::new().concurrent_executions(0)
}
