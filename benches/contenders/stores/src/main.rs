//! The chain of ten steps as durable executions, on each store. Each run is a separate process, so
//! that several can share a store.
//!
//! ```sh
//! stores server postgres           # starts a server, prints its address, and ends it when its input ends
//! stores run ADDRESS AT_ONCE SECONDS      # executions that ended, and the seconds taken
//! stores by_hand ADDRESS AT_ONCE SECONDS  # rows inserted into Postgres, one a transaction
//! stores commits ADDRESS           # transactions that Postgres has committed
//! stores delay ADDRESS             # delay until another process sees a start: median, p99, in ms
//! ```
//!
//! An address is `sqlite:FILE`, `postgres://…`, `redis://…`, or `restate:INGRESS ADMIN`.

mod by_hand;
mod chain;
mod delay;
mod restate;

use std::error::Error;
use std::future::Future;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use flow_services::{Postgres, Redis, Restate};
use tokio::task::JoinSet;

type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

/// Prints the address of a server, which runs until this process's input ends.
fn serve(address: &str) -> Outcome {
    println!("{address}");
    std::io::stdin().read_line(&mut String::new())?;
    Ok(())
}

fn server(name: &str) -> Outcome {
    let missing = || format!("{name} is not installed");
    match name {
        "postgres" => serve(&Postgres::start().ok_or_else(missing)?.url()),
        "redis" => serve(&Redis::start().ok_or_else(missing)?.url()),
        "restate" => {
            let server = Restate::start().ok_or_else(missing)?;
            serve(&format!("restate:{} {}", server.ingress(), server.admin()))
        }
        other => Err(format!("there is no server {other}").into()),
    }
}

/// Repeats this work for the given time, `at_once` times concurrently, after one run alone. Prints
/// the number of runs and the seconds taken.
async fn repeat<F, Fut>(at_once: usize, seconds: u64, work: F) -> Outcome
where
    F: Fn(u64) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Outcome> + Send,
{
    let (work, next) = (Arc::new(work), Arc::new(AtomicU64::new(1)));
    work(0).await?;
    let began = Instant::now();
    let until = began + Duration::from_secs(seconds);
    let mut running = JoinSet::new();
    for _ in 0..at_once {
        let (work, next) = (work.clone(), next.clone());
        running.spawn(async move {
            let mut count = 0_u64;
            while Instant::now() < until {
                work(next.fetch_add(1, Ordering::Relaxed)).await?;
                count += 1;
            }
            Outcome::Ok(count)
        });
    }
    let mut count = 0;
    while let Some(done) = running.join_next().await {
        count += done??;
    }
    println!("{count} {}", began.elapsed().as_secs_f64());
    Ok(())
}

async fn measure(arguments: &[&str]) -> Outcome {
    match *arguments {
        ["run", address, at_once, seconds] => {
            let (at_once, seconds) = (at_once.parse()?, seconds.parse()?);
            match address.strip_prefix("restate:") {
                Some(servers) => restate::run(servers, at_once, seconds).await,
                None => chain::run(address, at_once, seconds).await,
            }
        }
        ["by_hand", address, at_once, seconds] => {
            by_hand::insert(address, at_once.parse()?, seconds.parse()?).await
        }
        ["commits", address] => by_hand::commits(address).await,
        ["delay", address] => delay::measure(address).await,
        ["watch", address] => delay::watch(address).await,
        _ => Err("stores server NAME | run ADDRESS AT_ONCE SECONDS | by_hand ADDRESS AT_ONCE SECONDS | commits ADDRESS \
            | delay ADDRESS"
            .into()),
    }
}

fn with_causes(error: &(dyn Error + 'static)) -> String {
    let mut texts = vec![error.to_string()];
    let mut next = error.source();
    while let Some(cause) = next {
        texts.push(cause.to_string());
        next = cause.source();
    }
    texts.join(": ")
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments[..] {
        ["server", name] => server(name),
        ref all => {
            let runtime = tokio::runtime::Runtime::new().expect("tokio starts");
            runtime.block_on(measure(all))
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}", with_causes(&*error));
            ExitCode::FAILURE
        }
    }
}
