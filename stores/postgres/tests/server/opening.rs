//! What a store accepts when it is opened.

use flow_postgres::{PostgresOptions, PostgresStore};
use flow_store::{Store as _, StoreError};
use std::time::Duration;

use crate::servers::{options, shared};

fn told(error: &dyn std::error::Error) -> String {
    let mut told = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        told += &format!(": {error}");
        source = error.source();
    }
    told
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_open_a_new_one_at_once() {
    let Some(server) = shared() else {
        return;
    };
    let options = options();
    let opening: Vec<_> = (0..12)
        .map(|_| {
            let options = options.clone();
            tokio::spawn(async move { PostgresStore::connect_with(&server.url(), options).await })
        })
        .collect();
    for opened in opening {
        let store = opened.await.unwrap().unwrap();
        assert_eq!(store.last_offset().await.unwrap(), 0);
    }
}

#[tokio::test]
async fn a_newer_one_is_refused() {
    let Some(server) = shared() else {
        return;
    };
    let options = PostgresOptions::new().schema("newer");
    drop(PostgresStore::connect_with(&server.url(), options.clone()).await);
    server.query("UPDATE newer.version SET version = 7");
    let opened = PostgresStore::connect_with(&server.url(), options).await;
    assert!(
        matches!(opened, Err(StoreError::TooNew { found: 7, known: 1 })),
        "{opened:?}"
    );
}

#[tokio::test]
async fn settings_that_break_the_promise_are_refused() {
    let Some(server) = shared() else {
        return;
    };
    server.query("CREATE ROLE hasty LOGIN SUPERUSER");
    server.query("ALTER ROLE hasty SET synchronous_commit = off");
    let url = server.url().replace("flow@", "hasty@");
    let error = PostgresStore::connect_with(&url, options())
        .await
        .unwrap_err();
    assert!(
        told(&error).contains("set it by `ALTER ROLE … SET synchronous_commit = 'on'`"),
        "{}",
        told(&error)
    );
}

#[tokio::test]
async fn an_address_that_leads_nowhere_is_told() {
    let options = PostgresOptions::new().patience(Duration::ZERO);
    let open = async |url: &str| {
        let opened = PostgresStore::connect_with(url, options.clone()).await;
        told(&opened.unwrap_err())
    };
    let error = open("nonsense").await;
    assert!(
        error.contains("the address of the database is not valid"),
        "{error}"
    );
    let error = open("postgres://flow@127.0.0.1:1/postgres").await;
    assert!(error.contains("the database cannot be reached"), "{error}");
    let error = open("postgres://flow@127.0.0.1:1/postgres?sslmode=require").await;
    assert!(error.contains("TLS"), "{error}");
    let options = PostgresOptions::new().schema("");
    let opened = PostgresStore::connect_with("postgres://flow@127.0.0.1:1/postgres", options).await;
    let error = told(&opened.unwrap_err());
    assert!(error.contains("the name of a schema"), "{error}");
}
