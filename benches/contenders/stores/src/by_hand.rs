//! Postgres without a library: one row for each step, about as large as a record, in its own
//! transaction.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use flow_postgres::tokio_postgres::{self, Client, NoTls};
use tokio::sync::Mutex;

use crate::{Outcome, repeat};

const CREATE: &str = "CREATE TABLE IF NOT EXISTS by_hand (id bigserial PRIMARY KEY, run bigint, seq bigint, at_ms bigint, \
    kind text, path text, step text, payload text, UNIQUE (run, seq))";
const INSERT: &str = "INSERT INTO by_hand (run, seq, at_ms, kind, path, step, payload) \
    VALUES ($1, $2, 1700000000000, 'outcome', 'chain.one', 'chain.one', '{\"total\":1}')";

async fn connected(address: &str) -> Outcome<Client> {
    let (client, connection) = tokio_postgres::connect(address, NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}

pub(crate) async fn insert(address: &str, at_once: usize, seconds: u64) -> Outcome {
    let client = connected(address).await?;
    client.batch_execute(CREATE).await?;
    let last: i64 = client
        .query_one("SELECT coalesce(max(run), 0) FROM by_hand", &[])
        .await?
        .get(0);
    let next_run = Arc::new(AtomicI64::new(last + 1));
    let mut writers = Vec::new();
    for _ in 0..at_once {
        let client = connected(address).await?;
        let insert = client.prepare(INSERT).await?;
        writers.push((client, insert));
    }
    // One for each task, so that one is always free.
    let free = Arc::new(Mutex::new(writers));
    repeat(at_once, seconds, move |_| {
        let (free, next_run) = (free.clone(), next_run.clone());
        async move {
            let writer = free.lock().await.pop();
            let (client, insert) = writer.ok_or("there is no connection for it")?;
            let run = next_run.fetch_add(1, Ordering::Relaxed);
            for seq in 0..10_i64 {
                client.execute(&insert, &[&run, &seq]).await?;
            }
            free.lock().await.push((client, insert));
            Ok(())
        }
    })
    .await
}

/// Prints the number of transactions. A connection reports its own with some delay, or when it
/// ends.
pub(crate) async fn commits(address: &str) -> Outcome {
    let client = connected(address).await?;
    let sql = "SELECT sum(xact_commit)::bigint FROM pg_stat_database";
    println!("{}", client.query_one(sql, &[]).await?.get::<_, i64>(0));
    Ok(())
}
