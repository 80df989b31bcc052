//! Takes executions out of the queue and runs them: `worker STORE LEASE_MS CLOCK_MS`, by a clock
//! that shows so much more or less than it is. When its input ends, it drains, says so, and ends.

use std::error::Error;
use std::io::Read as _;
use std::time::{Duration, SystemTime};

use flow_durable::{Runtime, RuntimeOptions};
use flow_survivor::job::{AT_ONCE, Batch, ERRANDS_AT_ONCE, Errand, Job};
use flow_survivor::told::Told;
use flow_survivor::{LOOK_EVERY, store_at};

/// Longer than any step takes.
const DRAIN: Duration = Duration::from_secs(60);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let mut arguments = std::env::args().skip(1);
    let place = arguments.next().ok_or("no store")?;
    let lease = Duration::from_millis(arguments.next().ok_or("no lease")?.parse()?);
    let clock_ms: i64 = arguments.next().ok_or("no clock")?.parse()?;
    let wrong_by = Duration::from_millis(clock_ms.unsigned_abs());
    let clock = move || {
        let now = SystemTime::now();
        match clock_ms {
            0.. => now + wrong_by,
            _ => now - wrong_by,
        }
    };
    let options = RuntimeOptions::new()
        .take_overs(u32::MAX)
        .clock(clock)
        .lease(lease)
        .concurrent_executions(AT_ONCE)
        .concurrent_executions_of("Errand", ERRANDS_AT_ONCE)
        .look_for_work(LOOK_EVERY);
    let runtime = Runtime::with_options(Told(store_at(&place).await?), options);
    runtime.register(Job::new())?;
    runtime.register(Errand::new())?;
    runtime.register(Batch::new())?;
    runtime.recover().await?;
    tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new())).await??;
    runtime.drain(DRAIN).await;
    println!("drained");
    Ok(())
}
