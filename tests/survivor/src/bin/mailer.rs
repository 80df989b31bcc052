//! Sends letters to executions and runs them: `mailer STORE LEASE_MS FIRST COUNT ID…`. The letter
//! with a number goes to one of the executions. Whoever begins again sends all of them again, with
//! the same keys. Says when all of them are sent, and ends when its input does.

use std::error::Error;
use std::io::Read as _;
use std::time::Duration;

use flow_durable::{ExecutionId, Runtime, RuntimeError, RuntimeOptions, SignalOptions};
use flow_survivor::mail::{Letter, Mail};
use flow_survivor::{LOOK_EVERY, store_at};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let mut arguments = std::env::args().skip(1);
    let place = arguments.next().ok_or("no store")?;
    let lease = Duration::from_millis(arguments.next().ok_or("no lease")?.parse()?);
    let first: u64 = arguments.next().ok_or("no first")?.parse()?;
    let count: u64 = arguments.next().ok_or("no count")?.parse()?;
    let ids: Vec<ExecutionId> = arguments.map(|id| id.parse()).collect::<Result<_, _>>()?;
    let options = RuntimeOptions::new()
        .take_overs(u32::MAX)
        .lease(lease)
        .look_for_work(LOOK_EVERY);
    let runtime = Runtime::with_options(store_at(&place).await?, options);
    runtime.register(Mail::new())?;
    runtime.recover().await?;
    for number in first..first + count {
        let id = ids[usize::try_from(number)? % ids.len()];
        send(&runtime, id, number).await?;
    }
    println!("sent");
    tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new())).await??;
    Ok(())
}

/// Sends a letter, and again if the store fails.
async fn send(runtime: &Runtime, id: ExecutionId, number: u64) -> Result<(), RuntimeError> {
    loop {
        let options = SignalOptions::new().idempotency_key(format!("letter {number}"));
        let sent = runtime.executions().signal(id, Letter { number }, options);
        match sent.await {
            Err(RuntimeError::Store { .. }) => tokio::time::sleep(LOOK_EVERY).await,
            sent => return sent.map(drop),
        }
    }
}
