//! Brings the tables to the version that this library knows.

use deadpool_postgres::Client;
use flow_store::StoreError;

use super::database::Database;
use super::errors::{Failure, pool_error, store_error};

/// The statements that lead from each version to the next.
const VERSIONS: [&[&str]; 1] = [&[
    include_str!("version_1/tables.sql"),
    include_str!("version_1/log.sql"),
    include_str!("version_1/write.sql"),
    include_str!("version_1/queue.sql"),
]];

/// Several processes may do this at once: the first one does it, and the others wait.
pub(super) async fn migrate(database: &Database) -> Result<(), StoreError> {
    let mut client = database.pool.get().await.map_err(pool_error)?;
    check_settings(&client).await?;
    let transaction = client.transaction().await.map_err(store_error)?;
    let run = async |template: &str| {
        let sql = database.sql(template);
        transaction.batch_execute(&sql).await.map_err(store_error)
    };
    run("SELECT pg_advisory_xact_lock({class}, -2)").await?;
    // Who may use the schema need not be allowed to create one.
    let sql = database.sql("SELECT to_regclass('{schema}.version') IS NULL");
    let found = transaction
        .query_typed(&sql, &[])
        .await
        .map_err(store_error)?;
    if found.first().is_some_and(|row| row.get(0)) {
        run("CREATE SCHEMA IF NOT EXISTS {schema}; \
             CREATE TABLE {schema}.version (version bigint NOT NULL); \
             INSERT INTO {schema}.version VALUES (0)")
        .await?;
    }
    let sql = database.sql("SELECT version FROM {schema}.version");
    let found = transaction
        .query_typed(&sql, &[])
        .await
        .map_err(store_error)?;
    let version: i64 = found.first().map_or(0, |row| row.get(0));
    let version = u64::try_from(version).unwrap_or(0);
    let known = VERSIONS.len() as u64;
    if version > known {
        return Err(StoreError::TooNew {
            found: version,
            known,
        });
    }
    for (next, statements) in (1..)
        .zip(VERSIONS)
        .skip(usize::try_from(version).unwrap_or(0))
    {
        for statements in statements {
            run(statements).await?;
        }
        run(&format!("UPDATE {{schema}}.version SET version = {next}")).await?;
    }
    transaction.commit().await.map_err(store_error)
}

/// Refuses settings with which the store cannot keep what it promises.
async fn check_settings(client: &Client) -> Result<(), StoreError> {
    let sql =
        "SELECT current_setting('transaction_isolation'), current_setting('synchronous_commit')";
    let found = client.query_typed(sql, &[]).await.map_err(store_error)?;
    let Some(found) = found.first() else {
        return Ok(());
    };
    let (isolation, commit): (String, String) = (found.get(0), found.get(1));
    if isolation != "read committed" {
        // A reader of the log has to see what others have committed meanwhile.
        return Err(Failure::Setting {
            name: "default_transaction_isolation",
            found: isolation,
            needed: "read committed",
        }
        .into());
    }
    if commit == "off" {
        return Err(Failure::Setting {
            name: "synchronous_commit",
            found: commit,
            needed: "on",
        }
        .into());
    }
    Ok(())
}
