//! The servers that the tests share, and stores that are empty.

use std::sync::{Arc, OnceLock};

use flow_redis::{RedisOptions, RedisStore};
use flow_services::Redis;
use flow_store::{MemoryStore, Store};
use uuid::Uuid;

/// The server, which ends with this process. `None` if Redis is not installed.
pub(crate) fn shared() -> Option<&'static Redis> {
    static SERVER: OnceLock<Option<Redis>> = OnceLock::new();
    SERVER.get_or_init(Redis::start).as_ref()
}

pub(crate) fn cluster() -> Option<&'static [Redis; 2]> {
    static CLUSTER: OnceLock<Option<[Redis; 2]>> = OnceLock::new();
    CLUSTER.get_or_init(Redis::start_cluster).as_ref()
}

/// Options with a name of their own, with which claims are judged by the times that tests give.
pub(crate) fn options() -> RedisOptions {
    with_its_clock().callers_clocks()
}

/// The same, but the clock of the server is the one that counts.
pub(crate) fn with_its_clock() -> RedisOptions {
    // Also a name with other characters has to be right.
    RedisOptions::new().name(format!("it's \"{}\"", Uuid::new_v4().simple()))
}

/// An empty store for the suite.
pub(crate) struct Fresh;

impl Fresh {
    pub(crate) async fn direct() -> Arc<dyn Store> {
        Fresh::at(shared().map(Redis::url)).await
    }

    /// Half of these are on the other server.
    pub(crate) async fn in_a_cluster() -> Arc<dyn Store> {
        Fresh::at(cluster().map(|[one, _]| one.url())).await
    }

    /// Which judges claims by its clock. `None` if Redis is not installed.
    pub(crate) async fn with_its_clock() -> Option<Arc<dyn Store>> {
        Fresh::with_the_clock_at(shared()?.url()).await
    }

    pub(crate) async fn with_its_clock_in_a_cluster() -> Option<Arc<dyn Store>> {
        Fresh::with_the_clock_at(cluster()?[0].url()).await
    }

    async fn with_the_clock_at(url: String) -> Option<Arc<dyn Store>> {
        let store = RedisStore::connect_with(&url, with_its_clock()).await;
        Some(Arc::new(store.unwrap()))
    }

    async fn at(url: Option<String>) -> Arc<dyn Store> {
        match url {
            Some(url) => Arc::new(RedisStore::connect_with(&url, options()).await.unwrap()),
            // It was said that this is skipped; the suite needs some store.
            None => Arc::new(MemoryStore::new()),
        }
    }
}
