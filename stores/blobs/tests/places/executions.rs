//! Executions in an SQLite file whose large values are in a folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use flow_blobs::{BlobStore, FolderBlobs};
use flow_durable::{Execution, ExecutionId, Runtime, StartOptions, Status};
use flow_runtime::prelude::*;
use flow_sqlite::SqliteStore;
use flow_sqlite::rusqlite::Connection;
use tempfile::TempDir;

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

const LARGE: usize = 5_000_000;

#[derive(Debug, Clone, Default)]
struct Scan {
    calls: Arc<AtomicUsize>,
}

#[node(writes = picture)]
impl Scan {
    fn exec(&self, name: &str) -> String {
        self.calls.fetch_add(1, Ordering::SeqCst);
        name.repeat(LARGE / name.len())
    }
}

#[node(human = "Is it legible?", writes = legible)]
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
struct Legible {
    yes: bool,
}

#[node(writes = size)]
fn measure(picture: &str, legible: &Legible) -> u64 {
    if legible.yes { picture.len() as u64 } else { 0 }
}

flow! {
    Archive(name: String) -> (size: u64) {
        node scan: Scan;
        start >> scan >> Legible >> measure >> end;
    }
}

struct Bench {
    folder: TempDir,
    scan: Scan,
}

impl Bench {
    fn new() -> Bench {
        Bench {
            folder: tempfile::tempdir().unwrap(),
            scan: Scan::default(),
        }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("runs.db")
    }

    fn blobs(&self) -> PathBuf {
        self.folder.path().join("blobs")
    }

    async fn runtime(&self) -> Outcome<Runtime> {
        let store = SqliteStore::open(self.file()).await?;
        let blobs = FolderBlobs::open(self.blobs()).await?;
        let runtime = Runtime::new(BlobStore::new(store, blobs));
        let scan = self.scan.clone();
        runtime.register(Archive::builder().scan(scan).build())?;
        Ok(runtime)
    }

    /// The one file in the folder of an execution.
    fn blob(&self, id: ExecutionId) -> PathBuf {
        let files = fs::read_dir(self.blobs().join(id.to_string())).unwrap();
        let files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
        assert_eq!(files.len(), 1, "{files:?}");
        files[0].clone()
    }

    /// An execution that waits for an answer, and whose process has ended.
    async fn waiting(&self) -> Outcome<ExecutionId> {
        let runtime = self.runtime().await?;
        let input = ArchiveInput {
            name: "x".to_owned(),
        };
        let started = runtime
            .executions()
            .start::<Archive>(input, StartOptions::new())
            .await?;
        assert_eq!(started.settled().await?.status(), Status::Paused);
        runtime.shut_down().await;
        Ok(started.id())
    }
}

async fn answer(runtime: &Runtime, id: ExecutionId) -> Outcome<Execution> {
    let execution = runtime.executions().get(id).await?;
    let token = execution.questions().await?[0].token();
    runtime
        .executions()
        .resume(token, serde_json::json!({ "yes": true }))
        .await?;
    Ok(execution.settled().await?)
}

/// How many bytes the rows have, and how many the files of the database.
fn in_the_database(file: &Path) -> Outcome<(i64, u64)> {
    let connection = Connection::open(file)?;
    let sum = "SELECT sum(length(payload)) FROM records";
    let rows = connection.query_row(sum, [], |row| row.get(0))?;
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    drop(connection);
    Ok((rows, fs::metadata(file)?.len()))
}

#[tokio::test]
async fn a_large_outcome_is_not_in_the_database_and_the_run_goes_on_with_it() -> Outcome {
    let bench = Bench::new();
    let id = bench.waiting().await?;
    let (rows, file) = in_the_database(&bench.file())?;
    assert!(rows < 2_000, "{rows} bytes in rows");
    assert!(file < 500_000, "{file} bytes in the file");
    let blob = fs::metadata(bench.blob(id))?.len();
    assert_eq!(blob, LARGE as u64 + 2, "the text and its quotes");

    let runtime = bench.runtime().await?;
    let done = answer(&runtime, id).await?;
    assert_eq!(done.status(), Status::Completed);
    let size = done.output::<Archive>()?.unwrap().size;
    assert_eq!(size, LARGE as u64);
    assert_eq!(bench.scan.calls.load(Ordering::SeqCst), 1);
    Ok(())
}

/// The run is not failed for it: with the blob again, it goes on.
#[tokio::test]
async fn a_blob_that_is_not_what_was_put_there_stops_the_run_and_names_the_record() -> Outcome {
    let bench = Bench::new();
    let id = bench.waiting().await?;
    let blob = bench.blob(id);
    let value = fs::read(&blob)?;
    let mut changed = value.clone();
    changed[LARGE / 2] = b'y';
    for (damage, words) in [
        (None, "is missing"),
        (Some(&value[..100]), "has 100 bytes, and not 5000002"),
        (Some(&changed), "has changed: its SHA-256 is another one"),
    ] {
        match damage {
            None => fs::remove_file(&blob)?,
            Some(damage) => fs::write(&blob, damage)?,
        }
        let runtime = bench.runtime().await?;
        let error = runtime
            .executions()
            .get(id)
            .await?
            .journal()
            .await
            .unwrap_err();
        let told = flow_store::suite::fixtures::told(&error);
        let place = format!("execution {id}, record 2: the blob `{id}/00000000000000000002-");
        assert!(told.contains(&place) && told.contains(words), "{told}");
        runtime.shut_down().await;
    }
    fs::write(&blob, &value)?;
    let runtime = bench.runtime().await?;
    assert_eq!(answer(&runtime, id).await?.status(), Status::Completed);
    Ok(())
}
