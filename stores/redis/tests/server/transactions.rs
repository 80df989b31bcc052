//! Steps that write in the database of the store: there is none.

use std::error::Error as _;

use flow_durable::Runtime;
use flow_redis::RedisStore;
use flow_runtime::prelude::*;
use flow_store::Store as _;

use crate::servers::{options, shared};

/// What a step would write with.
struct Rows;

#[node(transaction)]
async fn post(tx: &mut Rows, number: &u64) -> u64 {
    let _ = tx;
    number + 1
}

flow! {
    Posts(number: u64) -> (post: u64) {
        start >> post >> end;
    }
}

#[tokio::test]
async fn a_flow_with_a_step_in_a_transaction_is_refused() {
    let Some(server) = shared() else {
        return;
    };
    let store = RedisStore::connect_with(&server.url(), options()).await;
    let store = store.unwrap();
    assert_eq!(store.transactions(), None);
    let error = store.begin().await.map(drop).unwrap_err();
    let told = error.source().unwrap().to_string();
    assert_eq!(
        told,
        "the store has no database in which a step could write"
    );
    let error = Runtime::new(store).register(Posts::new()).unwrap_err();
    assert!(error.to_string().contains("transaction"), "{error}");
}
