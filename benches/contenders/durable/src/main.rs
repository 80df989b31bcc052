//! The chain as a durable run: each step's outcome is in an SQLite file, synced to the disk, before
//! the next step starts.
//!
//! Every run is a separate execution, with its start, its ten steps and its end. The file is new,
//! in the current directory.

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

use bench_harness::{Contender, Task, Workload, main as contend, task, work};
use flow_durable::{Runtime, StartOptions};
use flow_runtime::prelude::*;
use flow_sqlite::SqliteStore;

macro_rules! chain {
    ($($name:ident)*) => {
        $(
            #[node(writes = total)]
            async fn $name(total: u64) -> u64 {
                work::add(total)
            }
        )*
    };
}

chain!(one two three four five six seven eight nine ten);

flow! {
    Chain(total: u64) -> (total: u64) {
        start >> one >> two >> three >> four >> five >> six >> seven >> eight >> nine >> ten >> end;
    }
}

struct Durable;

impl Contender for Durable {
    fn workload(workload: Workload) -> Result<Task, &'static str> {
        if workload != Workload::Chain {
            return Err("only the chain is measured on a disk");
        }
        let folder = tempfile::Builder::new().prefix("durable-").tempdir_in(".");
        let folder = folder.map_err(|_| "no folder to write to")?;
        let mut opened = None;
        Ok(task(async move |seed| {
            if opened.is_none() {
                opened = Some(open(folder.path()).await.expect("a new file can be opened"));
            }
            let runtime = opened.as_ref().expect("it was opened");
            run(runtime, seed)
                .await
                .expect("the store can be written to")
        }))
    }
}

async fn open(folder: &Path) -> Result<Runtime, Box<dyn Error>> {
    let runtime = Runtime::new(SqliteStore::open(folder.join("chain.sqlite")).await?);
    runtime.register(Chain::new())?;
    Ok(runtime)
}

async fn run(runtime: &Runtime, seed: u64) -> Result<u64, Box<dyn Error>> {
    let input = ChainInput { total: seed };
    let execution = runtime
        .executions()
        .start::<Chain>(input, StartOptions::new())
        .await?;
    let output = execution.settled().await?.output::<Chain>()?;
    Ok(output.ok_or("it is not completed")?.total)
}

fn main() -> ExitCode {
    contend::<Durable>()
}
