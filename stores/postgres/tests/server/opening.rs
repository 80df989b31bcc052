//! What a store accepts when it is opened.

use flow_postgres::{PostgresOptions, PostgresStore};
use flow_store::suite::fixtures::{
    append, claim, claimed, new_id, question, records, signal, told,
};
use flow_store::{Append, CANCEL, Sent, Store as _, StoreError};
use std::time::Duration;

use crate::servers::{options, shared};

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
        matches!(opened, Err(StoreError::TooNew { found: 7, known: 5 })),
        "{opened:?}"
    );
}

/// The statements of each version before this one.
const EARLIER: [&[&str]; 4] = [
    &[
        include_str!("../../src/version_1/tables.sql"),
        include_str!("../../src/version_1/log.sql"),
        include_str!("../../src/version_1/write.sql"),
        include_str!("../../src/version_1/queue.sql"),
    ],
    &[include_str!("../../src/version_2.sql")],
    &[include_str!("../../src/version_3.sql")],
    &[include_str!("../../src/version_4.sql")],
];

#[tokio::test]
async fn an_earlier_one_gets_what_it_lacks_and_keeps_its_executions() {
    let Some(server) = shared() else {
        return;
    };
    for version in 1..=EARLIER.len() {
        let schema = format!("earlier_{version}");
        let in_schema = |sql: &str| {
            let sql = sql.replace("{schema}", &schema).replace("{body}", "$body$");
            server.query(&sql.replace("{class}", "17"))
        };
        in_schema("CREATE SCHEMA {schema}");
        EARLIER[..version]
            .iter()
            .flat_map(|it| *it)
            .for_each(|sql| {
                in_schema(sql);
            });
        in_schema("CREATE TABLE {schema}.version (version bigint NOT NULL)");
        in_schema(&format!(
            "INSERT INTO {{schema}}.version VALUES ({version})"
        ));
        let id = new_id();
        let created = format!(
            r#"SELECT {{schema}}.new_execution('{{"id": "{id}", "flow": "orders", "structure": "",
                "input_hash": "", "status": "running", "format": 2, "options": "", "created_ms": 1,
                "updated_ms": 1, "next_seq": 1, "fence": 0, "settled": 0, "priority": 0}}',
                '[{{"seq": 0, "at_ms": 1, "kind": "outcome", "path": "", "step": "", "visit": 1,
                "attempt": 0, "payload": ""}}]', NULL)"#
        );
        in_schema(&created);

        let options = PostgresOptions::new().schema(&schema).callers_clocks();
        let store = PostgresStore::connect_with(&server.url(), options).await;
        let store = store.unwrap();
        assert_eq!(in_schema("SELECT version FROM {schema}.version"), "5");
        let row = store.execution(id).await.unwrap().unwrap();
        assert_eq!((row.halted, row.take_overs), (None, None));
        let fence = claim(&store, id).await;
        let mark = flow_store::Mark {
            halted: Some("no bread".to_owned()),
            ..flow_store::Mark::default()
        };
        store.mark(id, fence, mark).await.unwrap();
        let row = store.execution(id).await.unwrap().unwrap();
        assert_eq!(row.halted.as_deref(), Some("no bread"));

        assert!(store.signals(id).await.unwrap().is_empty());
        let sent = store.signal(id, signal("paid")).await.unwrap();
        assert_eq!(sent, Sent::New(1));
        // A process that is not yet of this version writes too.
        let old = format!(
            "SELECT {{schema}}.append('{id}', {fence}, 5, 1, 0, NULL, NULL, NULL, NULL, 'paused', NULL, NULL, \
             NULL, false, NULL)"
        );
        in_schema(&old);
        let take = Append {
            taken: vec![1],
            ..append(records(1..2))
        };
        store.append(id, fence, take).await.unwrap();
        assert!(store.signals(id).await.unwrap().is_empty());
        assert_eq!(store.records(id, 0, 9).await.unwrap().len(), 2);

        assert_eq!(row.cancelled_ms, None);
        store.signal(id, signal(CANCEL)).await.unwrap();
        let row = store.execution(id).await.unwrap().unwrap();
        assert!(row.is_cancelling());
        let old = format!(
            r#"SELECT status FROM {{schema}}.end_execution('{id}', 'cancelled', 'late', 7,
                '{{"seq": 0, "at_ms": 7, "kind": "run_cancelled", "path": "", "step": "", "visit": 0,
                "attempt": 0, "payload": "late"}}', NULL)"#
        );
        assert_eq!(in_schema(&old), "cancelled");
    }
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
    if cfg!(not(feature = "tls")) {
        let error = open("postgres://flow@127.0.0.1:1/postgres?sslmode=verify-full").await;
        assert!(error.contains("add the feature `tls`"), "{error}");
    }
    let options = PostgresOptions::new().schema("");
    let opened = PostgresStore::connect_with("postgres://flow@127.0.0.1:1/postgres", options).await;
    let error = told(&opened.unwrap_err());
    assert!(error.contains("the name of a schema"), "{error}");
}

#[tokio::test]
async fn options_may_be_as_large_as_they_can_be() {
    let Some(server) = shared() else {
        return;
    };
    let options = options()
        .connections(usize::MAX)
        .patience(Duration::MAX)
        .answer_timeout(Duration::MAX)
        .transaction_idle_timeout(Duration::MAX);
    let store = PostgresStore::connect_with(&server.url(), options).await;
    let begun = store.unwrap().begin().await.unwrap();
    begun.commit().await.unwrap();
}

#[tokio::test]
async fn a_schema_may_have_any_name() {
    let Some(server) = shared() else {
        return;
    };
    for name in [
        "a $$ b",
        "{class}",
        "{schema}.{again}",
        "$body0$ $body1$",
        "it's \"{\"",
    ] {
        let options = PostgresOptions::new().schema(name);
        let store = PostgresStore::connect_with(&server.url(), options).await;
        let store = store.unwrap();
        let (id, fence) = claimed(&store).await;
        let write = append(records(1..2));
        store.append(id, fence, write).await.unwrap();
        assert_eq!(store.log(None, 0, 9).await.unwrap().len(), 2, "{name}");
    }
}

/// A row that could not be read is refused by the tables, so that nobody claims one.
#[tokio::test]
async fn rows_that_could_not_be_read_are_refused() {
    let Some(server) = shared() else {
        return;
    };
    let options = PostgresOptions::new().schema("refused_rows");
    let store = PostgresStore::connect_with(&server.url(), options).await;
    let store = store.unwrap();
    let (id, fence) = claimed(&store).await;
    let ask = Append {
        opened: vec![question(id)],
        ..append(Vec::new())
    };
    store.append(id, fence, ask).await.unwrap();
    store.signal(id, signal("paid")).await.unwrap();
    for change in [
        "executions SET status = 'runing'",
        "executions SET format = -1",
        "executions SET next_seq = -1",
        "executions SET created_ms = -1",
        "executions SET lease_ms = NULL",
        "executions SET concurrency_key = 'ann'",
        "executions SET concurrency_limit = 4294967296, concurrency_key = 'ann'",
        "records SET attempt = -1",
        "records SET at_ms = -1",
        "pauses SET state = 'opened'",
        "pauses SET state = 'answered'",
        "signals SET number = -1",
        "signals SET sent_ms = -1",
    ] {
        let refused = format!(
            "DO $$ BEGIN UPDATE refused_rows.{change}; RAISE 'it was not refused'; \
             EXCEPTION WHEN check_violation THEN NULL; END $$"
        );
        server.query(&refused);
    }
}
