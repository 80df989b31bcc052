//! The server that the tests share, and stores that are empty.

use std::sync::OnceLock;

use flow_postgres::{PostgresOptions, PostgresStore};
use flow_services::{PgBouncer, Postgres};
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

/// An empty store for the suite. `None` if a server is not installed.
pub(crate) struct Fresh;

impl Fresh {
    pub(crate) async fn direct() -> Option<PostgresStore> {
        Fresh::at(shared()?.url(), options_with_given_times()).await
    }

    /// With its own clock.
    pub(crate) async fn with_its_clock() -> Option<PostgresStore> {
        Fresh::at(shared()?.url(), options()).await
    }

    pub(crate) async fn with_prepared_statements() -> Option<PostgresStore> {
        let options = options_with_given_times().prepared_statements(true);
        Fresh::at(shared()?.url(), options).await
    }

    pub(crate) async fn through_a_pooler() -> Option<PostgresStore> {
        Fresh::at(pooler()?.url(), options_with_given_times()).await
    }

    async fn at(url: String, options: PostgresOptions) -> Option<PostgresStore> {
        Some(PostgresStore::connect_with(&url, options).await.unwrap())
    }
}
