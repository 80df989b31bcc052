//! Commands to inspect a store of executions, answer questions, send signals, and end and retry
//! executions. Only signals and `retry` of a halted execution need the flows.

mod arguments;
mod ends;
mod events;
mod find;
mod look;
mod show;
mod shown;
mod signals;
mod store;

use clap::{ArgMatches, FromArgMatches as _, Subcommand as _};
use flow_durable::{Execution, Executions, OpenQuestion, Runtime, RuntimeError};
use flow_runtime::engine::NodePath;
use serde_json::Value;

use crate::output::{self, Outcome};
use arguments::Command;
use find::{find, find_id, said};
pub use store::{InvalidStore, StoreAddress};

/// Commands for the executions of a store. Only `signal`, and `retry` and `cancel` of a halted execution
/// that has to be undone need flows: resumed executions wait for a process that has them.
///
/// | | |
/// |---|---|
/// | `list --status paused` | lists executions, the newest first |
/// | `show ID` | shows one: its output, its questions, its signals and its history |
/// | `events ID --follow` | prints its events, one per line |
/// | `answer ID VALUE` | answers its question |
/// | `signal ID NAME BODY` | sends it a signal |
/// | `cancel ID REASON` | ends it, and undoes its steps first if they can be undone |
/// | `cancel ID REASON --without-undoing` | ends it as it is, and prints the steps that are not undone |
/// | `retry ID` | tries it again at the step that failed, if it has failed or is halted |
/// | `copy ID SEQ key=value` | starts a copy that continues from a record, optionally with other values |
/// | `delete ID` | removes it with its journal |
///
/// An id may be given by its first digits, if no other one begins with them; `list` shows as many as
/// are needed. With `--json`, the output is JSON, with whole ids. The exit code is 0 on success, and
/// 2 otherwise.
///
/// # Examples
///
/// ```no_run
/// use std::process::ExitCode;
///
/// use flow_durable::RuntimeOptions;
/// use flow_terminal::{ExecutionCommands, StoreAddress, exit_code};
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> ExitCode {
///     let matches = ExecutionCommands::command().get_matches();
///     let store = StoreAddress::from("sqlite:runs.db");
///     // What has to go on is left to a worker.
///     let options = RuntimeOptions::new().concurrent_executions(0);
///     exit_code(match store.open_with(options).await {
///         Ok(runtime) => ExecutionCommands::execute(&matches, &runtime).await,
///         Err(error) => Err(store.explain(&error)),
///     })
/// }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct ExecutionCommands;

impl ExecutionCommands {
    /// Returns the command line.
    pub fn command() -> clap::Command {
        let command =
            clap::Command::new("executions").about("Looks into the executions of a store");
        ExecutionCommands::add_to(command)
            .subcommand_required(true)
            .arg_required_else_help(true)
    }

    /// Adds the commands to those of a program.
    pub fn add_to(command: clap::Command) -> clap::Command {
        Command::augment_subcommands(command)
    }

    /// Returns `true` if a command line has one of the commands.
    pub fn has(matches: &ArgMatches) -> bool {
        let name = matches.subcommand_name();
        name.is_some_and(Command::has_subcommand)
    }

    /// Executes the parsed command line, with access to the executions of all owners. If the
    /// runtime has flows, and the process ends after the command, the runtime should [run
    /// nothing](flow_durable::RuntimeOptions::concurrent_executions). Otherwise, the end of the
    /// process interrupts steps that `answer`, `signal`, `copy`, `cancel` and `retry` start, and
    /// a worker repeats them.
    ///
    /// # Errors
    ///
    /// The reason why the command failed, or that it is not one of [`command`](Self::command).
    /// [`exit_code`](crate::exit_code) prints it.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the command may have had its effect or not.
    pub async fn execute(matches: &ArgMatches, runtime: &Runtime) -> Result<Outcome, String> {
        let command = Command::from_arg_matches(matches).map_err(|error| error.to_string())?;
        carry_out(&command, &runtime.all_owners()).await
    }
}

async fn carry_out(command: &Command, executions: &Executions) -> Result<Outcome, String> {
    match command {
        Command::List(arguments) => look::list(arguments, executions).await,
        Command::Show(arguments) => show::show(arguments, executions).await,
        Command::Events(arguments) => events::events(arguments, executions).await,
        Command::Answer(arguments) => answer(arguments, executions).await,
        Command::Signal(arguments) => {
            let signalled = signals::signal(arguments, executions).await?;
            let id = signalled.id();
            // Its status stays as it was until a process resumes it.
            output::print(&format!(
                "{id} has the signal, and goes on in a process that has its flow\n"
            ))?;
            Ok(Outcome::Fine)
        }
        Command::Cancel(arguments) => ends::cancel(arguments, executions).await,
        Command::Retry(arguments) => ends::retry(arguments, executions).await,
        Command::Copy(arguments) => copy(arguments, executions).await,
        Command::Delete(arguments) => {
            let id = find_id(executions, &arguments.execution).await?;
            executions.delete(id).await.map_err(said)?;
            output::print(&format!("{id} is removed\n"))?;
            Ok(Outcome::Fine)
        }
    }
}

async fn answer(arguments: &arguments::Answer, executions: &Executions) -> Result<Outcome, String> {
    let execution = find(executions, &arguments.execution).await?;
    let questions = execution.questions().await.map_err(said)?;
    let question = asked(&questions, arguments.node.as_deref())?;
    let answer = output::value(&arguments.value);
    let text = Value::String(arguments.value.clone());
    let mut answered = executions.resume(question.token(), answer.clone()).await;
    if matches!(answered, Err(RuntimeError::WrongType { .. })) && answer != text {
        // `5` may be a text. If it is not, the error for the number is more helpful.
        let as_text = executions.resume(question.token(), text).await;
        answered = as_text.or(answered);
    }
    let id = answered.map_err(said)?.id();
    // Its status stays as it was until a process resumes it.
    output::print(&format!(
        "{id} is answered, and goes on in a process that has its flow\n"
    ))?;
    Ok(Outcome::Fine)
}

/// Returns the question to answer.
fn asked<'a>(
    questions: &'a [OpenQuestion],
    node: Option<&str>,
) -> Result<&'a OpenQuestion, String> {
    let is_meant = |question: &&OpenQuestion| {
        let path = question.path();
        node.is_none_or(|node| path == node || NodePath::new(path).last() == node)
    };
    let meant: Vec<&OpenQuestion> = questions.iter().filter(is_meant).collect();
    match meant[..] {
        [question] => Ok(question),
        [] if questions.is_empty() => Err("it asks nothing".to_owned()),
        _ => {
            let lines = questions
                .iter()
                .map(|question| format!("\n  --node {}: {}", question.path(), question.prompt()));
            let lines: String = lines.collect();
            Err(format!("it asks several questions; say which one:{lines}"))
        }
    }
}

async fn copy(arguments: &arguments::Copy, executions: &Executions) -> Result<Outcome, String> {
    let id = find_id(executions, &arguments.execution).await?;
    let values = arguments.values.iter();
    let values: serde_json::Map<_, _> = values
        .map(|(key, text)| (key.clone(), output::value(text)))
        .collect();
    let copied = if values.is_empty() {
        executions.copy(id, arguments.seq).await
    } else {
        executions.copy_with(id, arguments.seq, values).await
    };
    told(&copied.map_err(said)?)
}

/// Prints the status of an execution.
fn told(execution: &Execution) -> Result<Outcome, String> {
    output::print(&format!("{} is {}\n", execution.id(), execution.status()))?;
    Ok(Outcome::Fine)
}
