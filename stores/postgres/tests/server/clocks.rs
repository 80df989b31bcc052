//! Processes whose clocks differ: the clock of the database is the one that counts.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime};

use flow_durable::{Runtime, RuntimeOptions, StartOptions, Status};
use flow_postgres::{PostgresOptions, PostgresStore};
use flow_runtime::prelude::*;
use flow_store::{Store as _, from_ms};
use tokio::sync::Notify;

use crate::servers::{options, shared};

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

const HOUR: Duration = Duration::from_secs(60 * 60);

mod suite {
    use crate::servers::Fresh;

    flow_store::clock_suite!(|_folder| Fresh::with_its_clock());
}

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
async fn process(
    url: &str,
    options: PostgresOptions,
    clock: Clock,
    hold: &Hold,
) -> Outcome<Runtime> {
    let store = PostgresStore::connect_with(url, options).await?;
    let options = RuntimeOptions::new()
        .lease(Duration::from_secs(2))
        .clock(move || clock.now());
    let runtime = Runtime::with_options(store, options);
    runtime.register(Holding::builder().hold(hold.clone()).build())?;
    Ok(runtime)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_execution_stays_with_a_living_process_whatever_the_clocks_show() -> Outcome {
    let Some(url) = shared().map(|server| server.url()) else {
        return Ok(());
    };
    use Clock::{Ahead, Behind, Right};
    for (one, other) in [
        (Right, Ahead),
        (Behind, Right),
        (Behind, Ahead),
        (Ahead, Behind),
    ] {
        let (options, hold) = (options(), Hold::default());
        let one = process(&url, options.clone(), one, &hold).await?;
        let other = process(&url, options, other, &hold).await?;
        let execution = one.start::<Holding>(HoldingInput {}, StartOptions::new());
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
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_execution_of_a_dead_process_is_taken_over_whatever_the_clocks_show() -> Outcome {
    let Some(url) = shared().map(|server| server.url()) else {
        return Ok(());
    };
    use Clock::{Ahead, Behind};
    for (one, other) in [(Ahead, Behind), (Behind, Ahead)] {
        let (options, hold) = (options(), Hold::default());
        let dies = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()?;
        let (to, of, its) = (url.clone(), options.clone(), hold.clone());
        let started = dies.spawn(async move {
            let runtime = process(&to, of, one, &its).await.unwrap();
            let start = runtime.start::<Holding>(HoldingInput {}, StartOptions::new());
            let id = start.await.unwrap().id();
            its.has_begun.notified().await;
            (id, runtime)
        });
        let (id, runtime) = started.await?;
        dies.shutdown_background();
        drop(runtime);
        let began = Instant::now();
        let other = process(&url, options, other, &hold).await?;
        while other.recover().await?.resumed != [id] {
            assert!(began.elapsed() < Duration::from_secs(20));
            tokio::task::yield_now().await;
        }
        hold.go_on.notify_one();
        let settled = other.get(id).await?.settled().await?;
        assert_eq!(settled.status(), Status::Completed);
        assert_eq!(hold.begun.load(Ordering::SeqCst), 2);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn times_are_those_of_the_database() -> Outcome {
    let Some(url) = shared().map(|server| server.url()) else {
        return Ok(());
    };
    for clock in [Clock::Behind, Clock::Ahead] {
        let (options, hold) = (options(), Hold::default());
        let store = PostgresStore::connect_with(&url, options.clone()).await?;
        let runtime = process(&url, options, clock, &hold).await?;
        let database = async || Outcome::Ok(store.clock_ms().await?.ok_or("it has a clock")?);
        let not_before = from_ms(database().await? + 300);
        hold.go_on.notify_one();
        let options = StartOptions::new().not_before(not_before);
        let execution = runtime.start::<Holding>(HoldingInput {}, options).await?;
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
