//! Connections that break after a write and before its answer: nothing is written twice, and who
//! repeats it learns what it did the first time.

use std::sync::Arc;
use std::time::{Duration, Instant};

use flow_redis::{RedisOptions, RedisStore};
use flow_services::Redis;
use flow_store::suite::fixtures::{append, claimed, records};
use flow_store::suite::lost_answers::Line;
use flow_store::{Append, Status, Store};

use crate::proxy::Proxy;
use crate::servers::{options, shared};

/// A store, and the proxy before its server.
pub(crate) struct Behind(pub(crate) Proxy, pub(crate) Arc<dyn Store>);

impl Line for Behind {
    fn store(&self) -> Arc<dyn Store> {
        self.1.clone()
    }

    fn lose_the_next_answer(&self) {
        self.0.lose_the_next_answer();
    }

    fn lost(&self) -> usize {
        self.0.count()
    }
}

mod suite {
    use std::sync::Arc;

    use super::{Behind, behind_a_proxy, options};

    flow_store::lost_answer_suite!(|_folder| async {
        let (proxy, store) = behind_a_proxy(options()).await?;
        Some(Behind(proxy, Arc::new(store)))
    });
}

/// A store behind a proxy. `None` if Redis is not installed.
pub(crate) async fn behind_a_proxy(options: RedisOptions) -> Option<(Proxy, RedisStore)> {
    let proxy = Proxy::before(shared()?).await;
    let store = RedisStore::connect_with(&proxy.url(), options).await;
    Some((proxy, store.unwrap()))
}

/// The first try of a write comes when its repetition was done long ago, and others after it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_first_try_that_comes_late_does_nothing() {
    let options = options().answer_timeout(Duration::from_millis(500));
    let Some((proxy, store)) = behind_a_proxy(options).await else {
        return;
    };
    let (id, fence) = claimed(&store).await;
    let of_status = |status| Append {
        status: Some(status),
        ..append(Vec::new())
    };
    proxy.hold_the_next_question();
    let pause = store.append(id, fence, of_status(Status::Paused));
    pause.await.unwrap();
    let row = store.execution(id).await.unwrap().unwrap();
    assert_eq!(row.status, Status::Paused);
    let run = store.append(id, fence, of_status(Status::Running));
    run.await.unwrap();
    proxy.let_it_go().await;
    // The server takes what comes on one connection before what comes later on another.
    tokio::time::sleep(Duration::from_millis(50)).await;
    let row = store.execution(id).await.unwrap().unwrap();
    assert_eq!(row.status, Status::Running);
    assert_eq!(proxy.count(), 1);
}

/// A network that has lost the way says nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_never_comes_is_not_waited_for() {
    let options = options().answer_timeout(Duration::from_millis(500));
    let Some((proxy, store)) = behind_a_proxy(options).await else {
        return;
    };
    let (id, fence) = claimed(&store).await;
    let began = Instant::now();
    for seq in 1..4 {
        proxy.swallow_the_next_answer();
        let write = append(records(seq..seq + 1));
        store.append(id, fence, write).await.unwrap();
    }
    assert_eq!(proxy.count(), 3);
    assert_eq!(store.records(id, 0, 9).await.unwrap().len(), 4);
    // Each answer would take 30 s by default.
    assert!(began.elapsed() < Duration::from_secs(80));
}

/// Opening a store waits for a server that starts.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_connects_waits_for_a_server_that_starts() {
    let Some(mut server) = Redis::start() else {
        return;
    };
    server.kill();
    let options = RedisOptions::new().patience(Duration::from_secs(60));
    let url = server.url();
    let opening = tokio::spawn(async move { RedisStore::connect_with(&url, options).await });
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(!opening.is_finished(), "it is patient");
    let server = tokio::task::spawn_blocking(move || {
        server.start_again();
        server
    });
    let _server = server.await.unwrap();
    let store = opening.await.unwrap().unwrap();
    assert_eq!(store.last_offset().await.unwrap(), 0);
}
