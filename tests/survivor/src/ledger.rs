//! The eleventh flow: its steps write to a table of the store's database, in a transaction each.

use std::error::Error;
use std::sync::OnceLock;
use std::time::Duration;

use flow_postgres::tokio_postgres::types::Type;
use flow_postgres::tokio_postgres::{self, NoTls};
use flow_runtime::prelude::*;
use flow_sqlite::rusqlite;
use flow_store::StoreTransaction;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{note_line, postgres_and_schema};

type Failure = Box<dyn Error + Send + Sync>;

/// The table in the database of the store.
static TABLE: OnceLock<String> = OnceLock::new();

/// Creates the table. Nothing in it keeps a step from being there twice.
///
/// # Errors
///
/// The database cannot be written to.
pub async fn create_table(place: &str) -> Result<(), Failure> {
    let Some((url, schema)) = postgres_and_schema(place) else {
        let table = TABLE.get_or_init(|| "postings".to_owned());
        let file = rusqlite::Connection::open(place)?;
        file.busy_timeout(Duration::from_secs(60))?;
        return Ok(file.execute_batch(&create(table))?);
    };
    let table = TABLE.get_or_init(|| format!("{schema}.postings"));
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    let connection = tokio::spawn(connection);
    client.batch_execute(&create(table)).await?;
    drop(client);
    Ok(connection.await??)
}

fn create(table: &str) -> String {
    format!("CREATE TABLE IF NOT EXISTS {table} (step text NOT NULL, amount bigint NOT NULL)")
}

/// A transaction of the store, whichever that is.
pub struct Transaction(pub(crate) Box<dyn StoreTransaction>);

impl Transaction {
    async fn execute(&mut self, sql: &str, step: &str, amount: i64) -> Result<(), Failure> {
        let handle = self.0.handle();
        if let Some(tx) = handle.downcast_mut::<flow_sqlite::Transaction>() {
            tx.execute(sql, (step.to_owned(), amount)).await?;
        } else if let Some(tx) = handle.downcast_mut::<flow_postgres::Transaction>() {
            let values = [(&step as _, Type::TEXT), (&amount as _, Type::INT8)];
            tx.execute(sql, &values).await?;
        } else {
            return Err("it is the transaction of another store".into());
        }
        Ok(())
    }

    async fn count(&mut self, sql: &str, step: &str) -> Result<i64, Failure> {
        let handle = self.0.handle();
        if let Some(tx) = handle.downcast_mut::<flow_sqlite::Transaction>() {
            let (sql, step) = (sql.to_owned(), step.to_owned());
            let count = move |database: &rusqlite::Connection| {
                database.query_row(&sql, [step], |row| row.get(0))
            };
            Ok(tx.call(count).await?)
        } else if let Some(tx) = handle.downcast_mut::<flow_postgres::Transaction>() {
            let found = tx.query(sql, &[(&step, Type::TEXT)]).await?;
            Ok(found.first().ok_or("no count")?.try_get(0)?)
        } else {
            Err("it is the transaction of another store".into())
        }
    }
}

/// Writes a row, and returns how many the step has now.
async fn posted(tx: &mut Transaction, cx: &Context, amount: u64) -> Result<u64, Failure> {
    let step = cx.step_id();
    let noted = note_line(&json!({ "began": step, "posts": step, "inputs": amount }));
    assert!(noted.is_ok(), "{noted:?}");
    let table = TABLE.get().ok_or("there is no table")?;
    let insert = format!("INSERT INTO {table} VALUES ($1, $2)");
    tx.execute(&insert, &step, amount.cast_signed()).await?;
    // A death may come between the statements, too.
    tokio::time::sleep(Duration::from_millis(1)).await;
    let count = format!("SELECT count(*) FROM {table} WHERE step = $1");
    Ok(tx.count(&count, &step).await?.cast_unsigned())
}

#[node(transaction, writes = number)]
async fn post(tx: &mut Transaction, cx: &Context, number: &u64) -> Result<u64, Failure> {
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
async fn post_too_slowly(tx: &mut Transaction, cx: &Context, number: &u64) -> Result<(), Failure> {
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

    async fn exec(&self, sum: u64, tx: &mut Transaction, cx: &Context) -> Result<u64, Failure> {
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
