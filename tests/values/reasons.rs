//! A text that somebody chose is shown as it was written, whatever it looks like.

use std::sync::Arc;

use flow_durable::{MemoryStore, StartOptions};
use flow_runtime::prelude::*;

use crate::runtime;

flow! {
    Waits() {
        start >> wait(20s) >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn a_reason_that_looks_like_the_marker_of_a_blob_is_a_reason() {
    let on = runtime(&Arc::new(MemoryStore::new()), Waits::new());
    let marker = format!("flow-blob:1:{}:5", "0".repeat(64));
    for reason in [&*marker, &format!(" {marker}"), " spaces "] {
        let started = on
            .executions()
            .start::<Waits>(WaitsInput {}, StartOptions::new());
        let cancelled = on
            .executions()
            .cancel(started.await.unwrap().id(), reason)
            .await
            .unwrap();
        assert_eq!(cancelled.reason(), Some(reason));
        assert_eq!(
            on.executions().get(cancelled.id()).await.unwrap().reason(),
            Some(reason)
        );
    }
}
