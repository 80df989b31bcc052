//! Flows that operators edit while a program serves them.

use flow_definitions::{Definitions, SqliteDefinitions};
use flow_durable::RuntimeOptions;
use flow_loader::{Format, Registry, load};

use super::arguments::Serve;
use crate::server::Server;

/// Lets a runtime finish executions on the versions on which they started.
pub(super) fn with_versions(
    arguments: &Serve,
    options: RuntimeOptions,
    nodes: &Registry,
) -> RuntimeOptions {
    if arguments.definitions.is_none() {
        return options;
    }
    let nodes = nodes.clone();
    options.load_versions(move |structure| load(structure, Format::Json, &nodes))
}

/// Adds the definitions of the file that the command line names to the server.
pub(super) async fn with_definitions(
    server: Server,
    arguments: &Serve,
    nodes: &Registry,
) -> Result<Server, String> {
    let Some(file) = &arguments.definitions else {
        return Ok(server);
    };
    let explained = |error| format!("{}: {error}", file.display());
    let kept = SqliteDefinitions::open(file).map_err(explained)?;
    let server = server.definitions(Definitions::new(kept, nodes.clone()));
    server.await.map_err(explained)
}
