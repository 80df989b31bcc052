//! Stores that tell of what other processes write, and that have a clock of their own.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use flow_durable::{
    Append, EventFilter, ListOptions, RecordKind, Runtime, RuntimeError, RuntimeOptions,
    StartOptions, Status,
};
use flow_runtime::prelude::*;
use flow_store::{Change, Changes, StoreError, from_ms, to_ms};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};

use crate::stores::{Fault, Faulty};
use crate::support::{Shared, clock, options, pass, settled, store};

#[node]
fn double(number: &u64) -> u64 {
    number * 2
}

flow! {
    Twice(number: u64) -> (double: u64) {
        start >> double >> end;
    }
}

flow_law::law! {
    nodes: [double],
    flows: [
        Twice,
    ],
}

const INPUT: TwiceInput = TwiceInput { number: 4 };
const RECORDS: Change = Change {
    records: true,
    work: false,
    is_live: true,
};
const WORK: Change = Change {
    records: false,
    work: true,
    is_live: true,
};
const LIVE: Change = Change {
    records: false,
    work: false,
    is_live: true,
};
const DEAF: Change = Change {
    is_live: false,
    ..LIVE
};

/// A store that gives the hints that the test sends.
#[derive(Debug, Default)]
struct Hinting(Mutex<Option<mpsc::UnboundedReceiver<Change>>>);

impl Fault for Hinting {
    fn changes(&self) -> Option<Box<dyn Changes>> {
        let given = self.0.lock().unwrap().take();
        Some(Box::new(Given(given.expect("one listens"))))
    }
}

struct Given(mpsc::UnboundedReceiver<Change>);

#[async_trait]
impl Changes for Given {
    async fn next(&mut self) -> Change {
        match self.0.recv().await {
            Some(change) => change,
            None => std::future::pending().await,
        }
    }
}

/// A process that gets hints, a way to give them, and one that writes to the same store.
fn processes(options: RuntimeOptions) -> (Runtime, mpsc::UnboundedSender<Change>, Runtime) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let shared: Shared = store();
    let hinting = Hinting(Mutex::new(Some(receiver)));
    let told = Runtime::with_options(Faulty::new(&shared, hinting), options);
    told.register(Twice::new()).unwrap();
    let front = crate::support::options().concurrent_executions(0);
    let other = Runtime::with_options(shared, front);
    other.register(Twice::new()).unwrap();
    (told, sender, other)
}

/// How long after something is done there is an event for who waits for it already.
async fn until_event(
    events: &mut flow_durable::Events,
    does: impl Future<Output = ()>,
) -> Duration {
    let (seen, done) = tokio::join!(
        async {
            let event = timeout(Duration::from_secs(60), events.next()).await;
            assert!(matches!(event, Ok(Some(Ok(_)))), "{event:?}");
            Instant::now()
        },
        async {
            pass(Duration::from_millis(10)).await;
            does.await;
            Instant::now()
        }
    );
    seen - done
}

#[tokio::test(start_paused = true)]
async fn a_subscriber_sees_at_once_what_it_is_told_of() {
    let (told, hints, other) = processes(options());
    let mut events = told.executions().events(EventFilter::new()).await.unwrap();
    let start = async || {
        let started = other
            .executions()
            .start::<Twice>(INPUT, StartOptions::new());
        started.await.unwrap();
    };
    let [quarter, two] = [250, 2_000].map(Duration::from_millis);

    // Nobody has said that there are hints.
    let found = until_event(&mut events, start()).await;
    assert!(found > Duration::ZERO && found <= quarter, "{found:?}");

    hints.send(LIVE).unwrap();
    pass(Duration::from_millis(1)).await;
    let found = until_event(&mut events, async {
        start().await;
        hints.send(RECORDS).unwrap();
    });
    assert_eq!(found.await, Duration::ZERO);

    // A hint that is lost.
    let found = until_event(&mut events, start()).await;
    assert!(found > quarter && found <= two, "{found:?}");

    // Who waits with hints in mind learns that there are none.
    let found = until_event(&mut events, async {
        hints.send(DEAF).unwrap();
        pass(Duration::from_millis(1)).await;
        start().await;
    });
    let found = found.await;
    assert!(found > Duration::ZERO && found <= quarter, "{found:?}");
}

#[tokio::test(start_paused = true)]
async fn work_that_is_told_of_begins_at_once() {
    for options in [options(), options().concurrent_executions(4)] {
        let (told, hints, other) = processes(options);
        told.recover().await.unwrap();
        for hint in [RECORDS, LIVE] {
            hints.send(hint).unwrap();
        }
        pass(Duration::from_millis(1)).await;
        let started = other
            .executions()
            .start::<Twice>(INPUT, StartOptions::new());
        let execution = started.await.unwrap();
        pass(Duration::from_secs(5)).await;
        let now = execution.refreshed().await.unwrap();
        assert_eq!(now.status(), Status::Queued, "nobody has looked");
        hints.send(WORK).unwrap();
        pass(Duration::from_millis(20)).await;
        let now = execution.refreshed().await.unwrap();
        assert_eq!(now.status(), Status::Completed);
    }
}

/// A store that gives these hints and counts who looks for work.
#[derive(Debug)]
struct Looked {
    hints: Hinting,
    looks: AtomicUsize,
}

impl Fault for Looked {
    fn changes(&self) -> Option<Box<dyn Changes>> {
        self.hints.changes()
    }

    fn before(&self, method: &'static str) -> Result<(), StoreError> {
        self.looks
            .fetch_add(usize::from(method == "due"), Ordering::SeqCst);
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn one_look_follows_many_hints() {
    for options in [options(), options().concurrent_executions(4)] {
        let (hints, receiver) = mpsc::unbounded_channel();
        let shared: Shared = store();
        let looked = Faulty::new(
            &shared,
            Looked {
                hints: Hinting(Mutex::new(Some(receiver))),
                looks: AtomicUsize::new(0),
            },
        );
        let told = crate::support::runtime(shared, Twice::new());
        let worker = Runtime::with_options(looked.clone(), options);
        worker.register(Twice::new()).unwrap();
        worker.recover().await.unwrap();
        pass(Duration::from_secs(1)).await;
        let before = looked.fault.looks.load(Ordering::SeqCst);
        for _ in 0..1_000 {
            hints.send(WORK).unwrap();
            pass(Duration::from_millis(1)).await;
        }
        let looks = looked.fault.looks.load(Ordering::SeqCst) - before;
        // Each of them reads until there is nothing more.
        assert!((20..=25).contains(&looks), "{looks}");

        // What is queued meanwhile begins all the same.
        let later = StartOptions::new().not_before(from_ms(to_ms(clock()()) + 1));
        let execution = told
            .executions()
            .start::<Twice>(INPUT, later)
            .await
            .unwrap();
        told.shut_down().await;
        let began = Instant::now();
        while execution.refreshed().await.unwrap().status() == Status::Queued {
            hints.send(WORK).unwrap();
            pass(Duration::from_millis(1)).await;
        }
        assert!(began.elapsed() <= Duration::from_millis(60));
    }
}

/// A store that refuses the outcomes of steps, and tells of what is given up as Postgres does.
#[derive(Debug)]
struct Full {
    hints: Hinting,
    sender: mpsc::UnboundedSender<Change>,
    is_full: AtomicBool,
    refused: AtomicUsize,
}

impl Fault for Full {
    fn changes(&self) -> Option<Box<dyn Changes>> {
        self.hints.changes()
    }

    fn append(&self, append: &Append) -> Result<(), StoreError> {
        let is_outcome = |record: &flow_durable::Record| record.kind == RecordKind::Outcome;
        if append.records.iter().any(is_outcome) && self.is_full.load(Ordering::SeqCst) {
            self.refused.fetch_add(1, Ordering::SeqCst);
            return Err(StoreError::Other("the disk is full".into()));
        }
        if append.release {
            let sender = self.sender.clone();
            tokio::spawn(async move {
                pass(Duration::from_millis(10)).await;
                let _ = sender.send(WORK);
            });
        }
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn a_step_whose_outcome_is_refused_runs_again_only_after_a_pause() {
    let lease = Duration::from_secs(30);
    for options in [options(), options().concurrent_executions(4)] {
        let (sender, receiver) = mpsc::unbounded_channel();
        let full = Full {
            hints: Hinting(Mutex::new(Some(receiver))),
            sender: sender.clone(),
            is_full: AtomicBool::new(true),
            refused: AtomicUsize::new(0),
        };
        let full = Faulty::new(&store(), full);
        let runtime = Runtime::with_options(full.clone(), options.lease(lease));
        runtime.register(Twice::new()).unwrap();
        runtime.recover().await.unwrap();
        let started = runtime
            .executions()
            .start::<Twice>(INPUT, StartOptions::new());
        let execution = started.await.unwrap();
        pass(lease * 2).await;
        let refused = full.fault.refused.load(Ordering::SeqCst);
        // At first, and once in a third of the lease, which two tasks may look at.
        assert!((5..=14).contains(&refused), "{refused}");

        full.fault.is_full.store(false, Ordering::SeqCst);
        pass(lease / 3 + Duration::from_millis(100)).await;
        let now = execution.refreshed().await.unwrap();
        assert_eq!(now.status(), Status::Completed);
    }
}

/// A store whose clock is an hour ahead.
#[derive(Debug, Default)]
struct Ahead {
    asked: AtomicU64,
    fails: AtomicBool,
}

const HOUR: Duration = Duration::from_secs(3600);

impl Fault for Ahead {
    fn clock_ms(&self) -> Result<Option<u64>, StoreError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        if self.fails.load(Ordering::SeqCst) {
            return Err(StoreError::Other("the connection was cut".into()));
        }
        Ok(Some(to_ms(clock()() + HOUR)))
    }
}

#[tokio::test(start_paused = true)]
async fn times_are_those_of_the_clock_of_the_store() {
    let store = store();
    let faulty = Faulty::new(&store, Ahead::default());
    let runtime = crate::support::runtime(faulty.clone(), Twice::new());
    let before = from_ms(to_ms(clock()()));
    let execution = settled::<Twice>(&runtime, INPUT).await;
    assert_eq!(execution.status(), Status::Completed);
    for record in execution.journal().await.unwrap() {
        assert!(record.at() >= before + HOUR, "{record:?}");
        assert!(record.at() < before + 2 * HOUR, "{record:?}");
    }
    let asked = faulty.fault.asked.load(Ordering::SeqCst);
    settled::<Twice>(&runtime, INPUT).await;
    assert_eq!(
        faulty.fault.asked.load(Ordering::SeqCst),
        asked,
        "not again"
    );

    // It goes on by what it knows.
    pass(Duration::from_secs(60)).await;
    faulty.fault.fails.store(true, Ordering::SeqCst);
    let execution = settled::<Twice>(&runtime, INPUT).await;
    assert!(faulty.fault.asked.load(Ordering::SeqCst) > asked);
    let last = execution.journal().await.unwrap().pop().unwrap();
    assert_eq!(last.kind, RecordKind::RunCompleted);
    assert!(last.at() >= before + HOUR);
}

#[tokio::test(start_paused = true)]
async fn nothing_starts_at_an_unknown_time() {
    let store = store();
    let faulty = Faulty::new(&store, Ahead::default());
    faulty.fault.fails.store(true, Ordering::SeqCst);
    let runtime = crate::support::runtime(faulty.clone(), Twice::new());
    let started = runtime
        .executions()
        .start::<Twice>(INPUT, StartOptions::new())
        .await;
    assert!(
        matches!(started, Err(RuntimeError::Store(_))),
        "{started:?}"
    );
    faulty.fault.fails.store(false, Ordering::SeqCst);
    let listed = runtime.executions().list(ListOptions::new()).await.unwrap();
    assert!(listed.is_empty());
    let execution = settled::<Twice>(&runtime, INPUT).await;
    assert_eq!(execution.status(), Status::Completed);
}
