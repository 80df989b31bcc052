//! The chain, on a store.

use std::sync::Arc;

use flow_durable::{Runtime, StartOptions, Store};
use flow_postgres::{PostgresOptions, PostgresStore};
use flow_redis::RedisStore;
use flow_runtime::prelude::*;
use flow_sqlite::SqliteStore;

use crate::{Outcome, repeat};

macro_rules! steps {
    ($($name:ident)*) => {
        $(
            #[node(writes = total)]
            async fn $name(total: u64) -> u64 {
                total + 1
            }
        )*
    };
}

steps!(one two three four five six seven eight nine ten);

flow! {
    pub(crate) Chain(total: u64) -> (total: u64) {
        start >> one >> two >> three >> four >> five >> six >> seven >> eight >> nine >> ten >> end;
    }
}

pub(crate) async fn open(address: &str, at_once: usize) -> Outcome<Arc<dyn Store>> {
    Ok(match address.split_once(':') {
        Some(("sqlite", file)) => Arc::new(SqliteStore::open(file).await?),
        Some(("redis", _)) => Arc::new(RedisStore::connect(address).await?),
        _ => {
            let options = PostgresOptions::new()
                .connections(at_once)
                .prepared_statements(true);
            Arc::new(PostgresStore::connect_with(address, options).await?)
        }
    })
}

pub(crate) async fn run(address: &str, at_once: usize, seconds: u64) -> Outcome {
    let runtime = Runtime::new(open(address, at_once).await?);
    runtime.register(Chain::new())?;
    repeat(at_once, seconds, move |_| {
        let runtime = runtime.clone();
        async move {
            let input = ChainInput { total: 0 };
            let execution = runtime
                .executions()
                .start::<Chain>(input, StartOptions::new())
                .await?;
            let output = execution.settled().await?.output::<Chain>()?;
            match output {
                Some(output) if output.total == 10 => Ok(()),
                _ => Err("the chain did not come to 10".into()),
            }
        }
    })
    .await
}
