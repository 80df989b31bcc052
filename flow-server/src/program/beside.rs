//! `--blobs`: large values beside the store.

use std::error::Error;
use std::sync::Arc;

use clap::{Arg, ArgMatches};
use flow_blobs::BlobStore;
use flow_durable::Store;

/// Adds the arguments.
pub(super) fn add_to(command: clap::Command) -> clap::Command {
    let place = Arg::new("blobs")
        .long("blobs")
        .value_name("FOLDER|URL")
        .global(true)
        .help("Where large values are kept, beside the store: the same in all processes on it");
    let above = Arg::new("blobs-above")
        .long("blobs-above")
        .value_name("BYTES")
        .global(true)
        .value_parser(clap::value_parser!(usize))
        .help("The size above which values are large (65536 if nothing is said)");
    command.arg(place).arg(above)
}

/// The store, with the blobs that the command line names.
pub(super) async fn with_blobs(
    matches: &ArgMatches,
    store: Arc<dyn Store>,
) -> Result<Arc<dyn Store>, String> {
    let above = matches.get_one::<usize>("blobs-above");
    let Some(place) = matches.get_one::<String>("blobs") else {
        return match above {
            None => Ok(store),
            Some(_) => Err(
                "`--blobs-above` says what is kept as a blob, and not where\nhelp: add `--blobs FOLDER`"
                    .to_owned(),
            ),
        };
    };
    let blobs = flow_blobs::open(place)
        .await
        .map_err(|error| told(&error))?;
    let store = BlobStore::new(store, blobs);
    Ok(match above {
        Some(bytes) => Arc::new(store.above(*bytes)),
        None => Arc::new(store),
    })
}

/// What an error of a place says, and its causes. That the store has failed is not said: it has not.
fn told(error: &dyn Error) -> String {
    let mut causes = std::iter::successors(error.source(), |error| (*error).source());
    let first = causes.next().map_or(error.to_string(), ToString::to_string);
    causes.fold(first, |told, cause| format!("{told}: {cause}"))
}
