//! The server that the tests share, and stores that are empty.

use std::sync::{Arc, OnceLock};

use flow_postgres::{PostgresOptions, PostgresStore};
use flow_services::{PgBouncer, Postgres};
use flow_store::{MemoryStore, Store};
use uuid::Uuid;

/// The server, which ends with this process. `None` if Postgres is not installed.
pub(crate) fn shared() -> Option<&'static Postgres> {
    static SERVER: OnceLock<Option<Postgres>> = OnceLock::new();
    SERVER.get_or_init(Postgres::start).as_ref()
}

pub(crate) fn pooler() -> Option<&'static PgBouncer> {
    static POOLER: OnceLock<Option<PgBouncer>> = OnceLock::new();
    POOLER.get_or_init(|| shared()?.pooler()).as_ref()
}

/// Options with a schema of their own.
pub(crate) fn options() -> PostgresOptions {
    // Also the quotes have to be right.
    PostgresOptions::new().schema(format!("it's \"{}\"", Uuid::new_v4().simple()))
}

/// The same for a test that sets the clock.
pub(crate) fn options_with_given_times() -> PostgresOptions {
    options().callers_clocks()
}

/// An empty store for the suite.
pub(crate) struct Fresh;

impl Fresh {
    pub(crate) async fn direct() -> Arc<dyn Store> {
        Fresh::at(shared().map(Postgres::url), options_with_given_times()).await
    }

    /// With its own clock. `None` if Postgres is not installed.
    pub(crate) async fn with_its_clock() -> Option<PostgresStore> {
        let url = shared()?.url();
        Some(PostgresStore::connect_with(&url, options()).await.unwrap())
    }

    pub(crate) async fn with_prepared_statements() -> Arc<dyn Store> {
        let options = options_with_given_times().prepared_statements(true);
        Fresh::at(shared().map(Postgres::url), options).await
    }

    pub(crate) async fn through_a_pooler() -> Arc<dyn Store> {
        Fresh::at(pooler().map(PgBouncer::url), options_with_given_times()).await
    }

    async fn at(url: Option<String>, options: PostgresOptions) -> Arc<dyn Store> {
        match url {
            Some(url) => Arc::new(PostgresStore::connect_with(&url, options).await.unwrap()),
            // It was said that this is skipped; the suite needs some store.
            None => Arc::new(MemoryStore::new()),
        }
    }
}
