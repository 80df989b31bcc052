//! Upgrades the tables to the version that this library knows.

use deadpool_postgres::Client;
use flow_store::StoreError;
use tokio_postgres::Row as Found;

use super::database::Database;
use super::errors::{CallError, Failure, store_error};

/// The statements that upgrade each version to the next.
const VERSIONS: [&[&str]; 5] = [
    &[
        include_str!("version_1/tables.sql"),
        include_str!("version_1/log.sql"),
        include_str!("version_1/write.sql"),
        include_str!("version_1/queue.sql"),
    ],
    &[include_str!("version_2.sql")],
    &[include_str!("version_3.sql")],
    &[include_str!("version_4.sql")],
    &[include_str!("version_5.sql")],
];

/// Upgrades the tables. If several processes do this at once, one does it and the others wait.
pub(super) async fn migrate(database: &Database) -> Result<(), StoreError> {
    let mut tries = database.tries();
    loop {
        let mut held = match database.connection().await {
            Ok(held) => held,
            Err(error) if tries.go_on_after(&error).await => continue,
            Err(error) => return Err(store_error(error)),
        };
        match database.answered(migrate_on(&mut held, database)).await {
            Err(error) if tries.go_on_after(&error).await => {}
            Err(error) => return Err(store_error(error)),
            Ok(()) => {
                held.give_back();
                return Ok(());
            }
        }
    }
}

async fn migrate_on(client: &mut Client, database: &Database) -> Result<(), CallError> {
    check_settings(client).await?;
    let transaction = client.transaction().await?;
    let run = async |template: &str| transaction.batch_execute(&database.sql(template)).await;
    run("SELECT pg_advisory_xact_lock({class}, -2)").await?;
    // A user of the schema may lack the permission to create one.
    let sql = database.sql("SELECT to_regclass('{schema}.version') IS NULL");
    let found = transaction.query_typed(&sql, &[]).await?;
    if found.iter().any(|row| row.get(0)) {
        run("CREATE SCHEMA IF NOT EXISTS {schema}; \
             CREATE TABLE {schema}.version (version bigint NOT NULL); \
             INSERT INTO {schema}.version VALUES (0)")
        .await?;
    }
    let sql = database.sql("SELECT version FROM {schema}.version");
    let version = version(&transaction.query_typed(&sql, &[]).await?)?;
    for (next, statements) in (1..).zip(VERSIONS).skip(version) {
        for statements in statements {
            run(statements).await?;
        }
        let update = "UPDATE {schema}.version SET version = ";
        run(&format!("{update}{next}")).await?;
    }
    Ok(transaction.commit().await?)
}

/// Returns the version of the tables, which this library must know.
fn version(found: &[Found]) -> Result<usize, StoreError> {
    let damaged = |reason: String| StoreError::Corrupt {
        place: "the table `version`".to_owned(),
        reason,
    };
    let [found] = found else {
        return Err(damaged(format!("it has {} rows", found.len())));
    };
    let found: i64 = found.get(0);
    let Ok(version) = usize::try_from(found) else {
        return Err(damaged(format!("the version is {found}")));
    };
    if version > VERSIONS.len() {
        return Err(StoreError::TooNew {
            found: version as u64,
            known: VERSIONS.len() as u64,
        });
    }
    Ok(version)
}

/// Refuses settings with which the store cannot keep its guarantees.
async fn check_settings(client: &Client) -> Result<(), CallError> {
    let sql =
        "SELECT current_setting('transaction_isolation'), current_setting('synchronous_commit')";
    let found = client.query_typed(sql, &[]).await?;
    let [found] = &found[..] else {
        unreachable!("a query of values has one row");
    };
    let (isolation, commit): (String, String) = (found.get(0), found.get(1));
    if isolation != "read committed" {
        // A reader of the log has to see concurrent commits.
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
