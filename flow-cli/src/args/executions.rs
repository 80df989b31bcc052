//! The arguments of `cargo flow executions`: a store, and those of a command.

use clap::{ArgMatches, Args, Command, FromArgMatches};
use flow_terminal::{ExecutionCommands, StoreAddress};

/// A store, and a command for its executions.
#[derive(Debug)]
pub(crate) struct Executions {
    pub(crate) store: StoreAddress,
    pub(crate) command: ArgMatches,
}

/// The argument before the command.
#[derive(Args)]
#[command(after_help = "\
Stores:
  sqlite:runs.db                  a file
  postgres://user@host/database   a Postgres database; needs the feature `postgres`
  redis://user@host:port          a Redis server; needs the feature `redis`

Examples:
  cargo flow executions sqlite:runs.db list --status paused
  cargo flow executions sqlite:runs.db show 019a4c1e-7
  cargo flow executions sqlite:runs.db answer 019a4c1e-7 '{\"Approve\": {\"comment\": \"have fun\"}}'
  cargo flow executions postgres://me@localhost/flows events 019a4c1e-7 --follow")]
struct InStore {
    /// The address of the store, such as `sqlite:runs.db`.
    store: StoreAddress,
}

/// The beginning of the help of each command.
const HELP: &str =
    "STORE is `sqlite:runs.db`, `postgres://user@host/database` or `redis://user@host:port`.\n\n";

impl Args for Executions {
    fn augment_args(command: Command) -> Command {
        let command = ExecutionCommands::add_to(InStore::augment_args(command));
        let with_store = |command: Command| {
            let help = command.get_after_help().map(ToString::to_string);
            let help = help.unwrap_or_default();
            command.after_help(HELP.to_owned() + &help.replace('…', "cargo flow executions STORE"))
        };
        command
            .subcommand_required(true)
            .arg_required_else_help(true)
            .mut_subcommands(with_store)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Executions::augment_args(command)
    }
}

impl FromArgMatches for Executions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let InStore { store } = InStore::from_arg_matches(matches)?;
        let command = matches.clone();
        Ok(Executions { store, command })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Executions::from_arg_matches(matches)?;
        Ok(())
    }
}
