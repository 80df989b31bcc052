use flow_durable::{MemoryStore, Runtime, RuntimeError, StartOptions};
use flow_runtime::prelude::*;

struct Amount(u64);

#[node]
fn read(text: &str) -> Amount { Amount(text.len() as u64) }

flow! { Sum(text: String) -> (read: Amount) { start >> read >> end; } }

async fn sum(runtime: &Runtime, text: String) -> Result<u64, RuntimeError> {
    runtime.register(Sum::new())?; //~
    let execution = runtime.executions().start::<Sum>(SumInput { text }, StartOptions::new()).await?;
    Ok(execution.settled().await?.journal().await?.len() as u64)
}

fn main() { drop(sum(&Runtime::new(std::sync::Arc::new(MemoryStore::new())), String::new())) }
