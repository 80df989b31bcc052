//! `cargo flow executions`: the executions of a store.

use flow_durable::Runtime;
use flow_spec::FlowDocument;
use flow_terminal::{ExecutionCommands, StoreAddress};

use crate::args::Executions;
use crate::error::Error;
use crate::screen::Outcome;

/// Executes the command. Its output goes to standard output directly.
pub(crate) fn executions(arguments: &Executions) -> Result<Outcome, Error> {
    let done = on_store(&arguments.store, async |runtime| {
        ExecutionCommands::execute(&arguments.command, &runtime).await
    });
    done.map(|_| Outcome::Fine)
}

/// Returns the executions of a store that these versions of its flows would break, with the changes
/// that break them.
pub(crate) fn broken_by(
    store: &StoreAddress,
    flows: &[FlowDocument],
) -> Result<Vec<(String, Vec<String>)>, Error> {
    on_store(store, async |runtime| {
        let mut broken = Vec::new();
        for flow in flows {
            let found = runtime.broken_by(flow).await;
            let found = found.map_err(|error| error.to_string())?.into_iter();
            broken.extend(found.map(|(id, changes)| (id.to_string(), changes)));
        }
        Ok(broken)
    })
}

/// Runs a function on the executions of a store.
fn on_store<T>(
    store: &StoreAddress,
    work: impl AsyncFnOnce(Runtime) -> Result<T, String>,
) -> Result<T, Error> {
    if let Some(file) = store.file().filter(|file| !file.exists()) {
        return Err(Error::NoStore {
            path: file.to_owned(),
        });
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = runtime.map_err(|error| Error::Executions(error.to_string()))?;
    let done = runtime.block_on(async {
        let opened = store.open().await;
        work(opened.map_err(|error| store.explain(&error))?).await
    });
    done.map_err(Error::Executions)
}
