//! The servers that the tests share, and stores that are empty.

use std::sync::OnceLock;

use flow_redis::{RedisOptions, RedisStore};
use flow_services::Redis;
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

/// An empty store for the suite. `None` if Redis is not installed.
pub(crate) struct Fresh;

impl Fresh {
    pub(crate) async fn direct() -> Option<RedisStore> {
        Fresh::at(shared()?.url(), options()).await
    }

    /// Half of these are on the other server.
    pub(crate) async fn in_a_cluster() -> Option<RedisStore> {
        Fresh::at(cluster()?[0].url(), options()).await
    }

    /// Which judges claims by its clock.
    pub(crate) async fn with_its_clock() -> Option<RedisStore> {
        Fresh::at(shared()?.url(), with_its_clock()).await
    }

    pub(crate) async fn with_its_clock_in_a_cluster() -> Option<RedisStore> {
        Fresh::at(cluster()?[0].url(), with_its_clock()).await
    }

    async fn at(url: String, options: RedisOptions) -> Option<RedisStore> {
        Some(RedisStore::connect_with(&url, options).await.unwrap())
    }
}
