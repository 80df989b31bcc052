//! Processes whose clocks differ by hours: the clock of the server is the one that counts, on
//! Postgres and on Redis.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime};

use flow_durable::{Runtime, RuntimeOptions, StartOptions, Status};
use flow_runtime::prelude::*;
use flow_store::from_ms;
use flow_survivor::store_at;
use tokio::sync::Notify;

use crate::database::{Database, Server};
use crate::support::Outcome;

const HOUR: Duration = Duration::from_secs(60 * 60);

/// By how much a clock is wrong.
#[derive(Debug, Clone, Copy)]
enum Clock {
    Behind,
    Right,
    Ahead,
}

impl Clock {
    fn now(self) -> SystemTime {
        match self {
            Clock::Behind => SystemTime::now() - HOUR,
            Clock::Right => SystemTime::now(),
            Clock::Ahead => SystemTime::now() + HOUR,
        }
    }
}

/// A step that takes until it is let go.
#[derive(Debug, Default, Clone)]
struct Hold {
    begun: Arc<AtomicUsize>,
    has_begun: Arc<Notify>,
    go_on: Arc<Notify>,
}

#[node]
impl Hold {
    async fn exec(&self) -> bool {
        self.begun.fetch_add(1, Ordering::SeqCst);
        self.has_begun.notify_one();
        self.go_on.notified().await;
        true
    }
}

flow! {
    Holding() -> (hold: bool) {
        node hold: Hold;
        start >> hold >> end;
    }
}

/// A process with this clock.
async fn process(place: &str, clock: Clock, hold: &Hold) -> Outcome<Runtime> {
    let options = RuntimeOptions::new()
        .lease(Duration::from_secs(2))
        .clock(move || clock.now());
    let runtime = Runtime::with_options(store_at(place).await?, options);
    runtime.register(Holding::builder().hold(hold.clone()).build())?;
    Ok(runtime)
}

/// Whether it holds on every server.
fn on_servers(holds: impl AsyncFn(&str) -> Outcome) -> Outcome {
    let tokio = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    for server in [Server::postgres(), Server::redis()].into_iter().flatten() {
        let database = Database::new(server)?;
        let holds = tokio.block_on(holds(&database.place()));
        holds.map_err(|error| format!("{}: {error}", server.name()))?;
    }
    Ok(())
}

async fn stays_with_a_living_process(place: &str) -> Outcome {
    use Clock::{Ahead, Behind, Right};
    for (one, other) in [
        (Right, Ahead),
        (Behind, Right),
        (Behind, Ahead),
        (Ahead, Behind),
    ] {
        let hold = Hold::default();
        let one = process(place, one, &hold).await?;
        let other = process(place, other, &hold).await?;
        let execution = one
            .executions()
            .start::<Holding>(HoldingInput {}, StartOptions::new());
        let execution = execution.await?;
        hold.has_begun.notified().await;
        for _ in 0..3 {
            assert_eq!(other.recover().await?.resumed, []);
            one.recover().await?;
        }
        hold.go_on.notify_one();
        assert_eq!(execution.settled().await?.status(), Status::Completed);
        assert_eq!(hold.begun.load(Ordering::SeqCst), 1);
    }
    Ok(())
}

/// The tokio runtime of a process ends as the process does: nothing is given up.
async fn is_taken_over_from_a_dead_process(place: &str) -> Outcome {
    use Clock::{Ahead, Behind};
    for (one, other) in [(Ahead, Behind), (Behind, Ahead)] {
        let hold = Hold::default();
        let dies = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()?;
        let (at, its) = (place.to_owned(), hold.clone());
        let started = dies.spawn(async move {
            let runtime = process(&at, one, &its).await.unwrap();
            let start = runtime
                .executions()
                .start::<Holding>(HoldingInput {}, StartOptions::new());
            let id = start.await.unwrap().id();
            its.has_begun.notified().await;
            (id, runtime)
        });
        let (id, runtime) = started.await?;
        dies.shutdown_background();
        drop(runtime);
        let began = Instant::now();
        let other = process(place, other, &hold).await?;
        while other.recover().await?.resumed != [id] {
            assert!(began.elapsed() < Duration::from_secs(200)); // of a busy machine
            tokio::task::yield_now().await;
        }
        hold.go_on.notify_one();
        let settled = other.executions().get(id).await?.settled().await?;
        assert_eq!(settled.status(), Status::Completed);
        assert_eq!(hold.begun.load(Ordering::SeqCst), 2);
    }
    Ok(())
}

async fn has_the_times_of_the_database(place: &str) -> Outcome {
    for clock in [Clock::Behind, Clock::Ahead] {
        let hold = Hold::default();
        let store = store_at(place).await?;
        let runtime = process(place, clock, &hold).await?;
        let database = async || Outcome::Ok(store.clock_ms().await?.ok_or("it has a clock")?);
        let not_before = from_ms(database().await? + 300);
        hold.go_on.notify_one();
        let options = StartOptions::new().not_before(not_before);
        let execution = runtime
            .executions()
            .start::<Holding>(HoldingInput {}, options)
            .await?;
        assert_eq!(execution.status(), Status::Queued);
        let settled = execution.settled().await?;
        let after = database().await?;
        for record in settled.journal().await? {
            // Half of the time that an answer takes can be missing.
            let early = from_ms(record.at_ms) + Duration::from_secs(5) < not_before;
            assert!(!early && record.at_ms < after + 5_000, "{record:?}");
        }
        assert!(from_ms(after) + Duration::from_secs(1) >= not_before);
    }
    Ok(())
}

#[test]
fn an_execution_stays_with_a_living_process_whatever_the_clocks_show() -> Outcome {
    on_servers(stays_with_a_living_process)
}

#[test]
fn an_execution_of_a_dead_process_is_taken_over_whatever_the_clocks_show() -> Outcome {
    on_servers(is_taken_over_from_a_dead_process)
}

#[test]
fn times_are_those_of_the_database() -> Outcome {
    on_servers(has_the_times_of_the_database)
}
