//! The eleventh flow: its steps write to a table of the store's database, in a transaction each.

use std::path::Path;
use std::time::Duration;

use flow_runtime::prelude::*;
use flow_sqlite::{Transaction, TransactionError, rusqlite};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::note_line;

/// Creates the table. Nothing in it keeps a step from being there twice.
///
/// # Errors
///
/// The file cannot be written to.
pub fn create_table(file: &Path) -> rusqlite::Result<()> {
    let connection = rusqlite::Connection::open(file)?;
    connection.busy_timeout(Duration::from_secs(60))?;
    connection.execute_batch(
        "CREATE TABLE IF NOT EXISTS postings (step TEXT NOT NULL, amount INTEGER NOT NULL)",
    )
}

/// Writes a row, and returns how many the step has now.
async fn posted(tx: &mut Transaction, cx: &Context, amount: u64) -> Result<u64, TransactionError> {
    let step = cx.step_id().unwrap_or_default();
    let noted = note_line(&json!({ "began": step, "posts": step, "inputs": amount }));
    assert!(noted.is_ok(), "{noted:?}");
    let row = (step.clone(), amount.cast_signed());
    tx.execute("INSERT INTO postings VALUES (?1, ?2)", row)
        .await?;
    // A death may come between the statements, too.
    tokio::time::sleep(Duration::from_millis(1)).await;
    let count = tx.call(move |connection| {
        let count = "SELECT count(*) FROM postings WHERE step = ?1";
        connection.query_row(count, [step], |row| row.get::<_, i64>(0))
    });
    Ok(count.await?.cast_unsigned())
}

#[node(transaction, writes = number)]
async fn post(tx: &mut Transaction, cx: &Context, number: &u64) -> Result<u64, TransactionError> {
    posted(tx, cx, *number).await?;
    Ok(number + 1)
}

/// Fails after it has written, and is tried again.
#[node(transaction, retry(attempts = 2, wait = "2ms"), writes = tried)]
async fn post_again(tx: &mut Transaction, cx: &Context, number: &u64) -> Result<u64, String> {
    posted(tx, cx, number + 10)
        .await
        .map_err(|error| error.to_string())?;
    if cx.attempt() == 0 {
        return Err("not yet".to_owned());
    }
    Ok(number * 2)
}

/// Fails after it has written.
#[node(transaction)]
async fn post_in_vain(tx: &mut Transaction, cx: &Context, number: &u64) -> Result<(), String> {
    posted(tx, cx, number + 100)
        .await
        .map_err(|error| error.to_string())?;
    Err(format!("nobody posts {number}"))
}

#[node(writes = aside)]
async fn beside(number: &u64) -> u64 {
    tokio::time::sleep(Duration::from_millis(1)).await;
    number + 1000
}

/// Takes longer than its flow may, after it has written.
#[node(transaction)]
async fn post_too_slowly(
    tx: &mut Transaction,
    cx: &Context,
    number: &u64,
) -> Result<(), TransactionError> {
    posted(tx, cx, number + 1000).await?;
    std::future::pending().await
}

flow! {
    /// Takes too long.
    pub Slowly(number: u64) {
        start >> post_too_slowly >> end;
    }
}

/// Another round, or the end.
#[derive(Serialize, Deserialize, Action)]
enum Closes {
    Again,
    Enough,
}

#[node(actions = Closes)]
fn close(number: &u64) -> Closes {
    if *number < 3 {
        Closes::Again
    } else {
        Closes::Enough
    }
}

/// The last step: its rows are committed together with the end of the run.
struct Balance;

#[node(transaction)]
impl Balance {
    fn prep(&self, tried: &u64, aside: &u64) -> u64 {
        tried + aside
    }

    async fn exec(
        &self,
        sum: u64,
        tx: &mut Transaction,
        cx: &Context,
    ) -> Result<u64, TransactionError> {
        posted(tx, cx, sum).await
    }

    async fn post(&self, exec_res: u64, prep_res: &u64) -> u64 {
        tokio::time::sleep(Duration::from_millis(1)).await;
        exec_res + prep_res
    }
}

flow! {
    /// Rounds of steps that write in transactions: one after the other, beside each other, tried
    /// again, and in vain.
    pub Ledger(number: u64) -> (balance: u64) {
        node balance: Balance = Balance;
        node slowly: Slowly with timeout = "25ms";
        start >> post >> [post_again, beside] >> post_in_vain >> close;
        post_in_vain - "error" >> close;
        close - "again" >> post;
        close - "enough" >> slowly >> balance >> end;
        slowly - "error" >> balance;
    }
}
