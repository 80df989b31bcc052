//! `--blobs`: large values beside the store.

use std::error::Error;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::{Arg, ArgMatches};
use flow_blobs::BlobStore;
use flow_durable::{ListQuery, Store, StoreError};
use flow_terminal::Outcome;

use super::arguments::Orphans;

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

/// Lists the blobs of executions that are gone, or removes them.
pub(super) async fn orphans(
    arguments: &Orphans,
    matches: &ArgMatches,
    store: Arc<dyn Store>,
) -> Result<Outcome, String> {
    let Some(place) = matches.get_one::<String>("blobs") else {
        return Err("no place for blobs is named\nhelp: add `--blobs FOLDER`".to_owned());
    };
    let blobs = flow_blobs::open(place).await;
    let blobs = BlobStore::new(store.clone(), blobs.map_err(|error| told(&error))?);
    let before = SystemTime::now().checked_sub(arguments.older_than);
    let before = before.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let before = before.unwrap_or_default().as_millis();
    let before_ms = u64::try_from(before).unwrap_or(u64::MAX);
    let failed = |error: StoreError| error.to_string();
    let orphans = blobs.orphans(before_ms).await.map_err(failed)?;
    if !arguments.delete {
        for id in &orphans {
            println!("{id}");
        }
        return Ok(Outcome::Fine);
    }
    let query = ListQuery {
        limit: Some(1),
        ..ListQuery::default()
    };
    let is_empty = store.list(&query).await.map_err(failed)?.is_empty();
    if is_empty && !orphans.is_empty() {
        return Err(format!(
            "the store has no executions, so all {} in `{place}` are gone from it\n\
             help: name the store to which they belong by `--store`, or remove the folder by hand",
            orphans.len()
        ));
    }
    let deleted = blobs.delete_orphans(before_ms).await.map_err(failed)?;
    println!("{deleted}");
    Ok(Outcome::Fine)
}

/// Opens the store with the blobs that the command line names.
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

/// Formats the causes of an error of a place, without the outermost text, which blames the store.
fn told(error: &dyn Error) -> String {
    let mut causes = std::iter::successors(error.source(), |error| (*error).source());
    let first = causes.next().map_or(error.to_string(), ToString::to_string);
    causes.fold(first, |told, cause| format!("{told}: {cause}"))
}
