//! `cargo flow executions`: the executions of a store.

use flow_terminal::ExecutionCommands;

use crate::args::Executions;
use crate::error::Error;
use crate::screen::Outcome;

/// Carries out what the words say. The output goes to the standard output, as it comes.
pub(crate) fn executions(arguments: &Executions) -> Result<Outcome, Error> {
    let name = format!("cargo flow executions {}", arguments.store);
    let command = ExecutionCommands::command()
        .no_binary_name(true)
        .bin_name(name);
    let matches = match command.try_get_matches_from(&arguments.words) {
        Ok(matches) => matches,
        Err(error) if error.exit_code() == 0 => {
            let _ = error.print();
            return Ok(Outcome::Fine);
        }
        Err(error) => {
            let _ = error.print();
            return Ok(Outcome::Failed);
        }
    };
    if let Some(file) = arguments.store.file().filter(|file| !file.exists()) {
        return Err(Error::NoStore {
            path: file.to_owned(),
        });
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = runtime.map_err(|error| Error::Executions(error.to_string()))?;
    let done = runtime.block_on(async {
        let store = arguments.store.open().await;
        let runtime = store.map_err(|error| arguments.store.explain(&error))?;
        ExecutionCommands::execute(&matches, &runtime).await
    });
    done.map(|_| Outcome::Fine).map_err(Error::Executions)
}
