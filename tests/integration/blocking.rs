//! `#[node(blocking)]`: plain functions on the pool that tokio has for what blocks.

use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::thread::{self, ThreadId};
use std::time::Duration;

use flow_runtime::prelude::*;

use crate::support::{Broken, Calls};

/// Waits until the work says that it has begun.
async fn begun(started: mpsc::Receiver<()>) {
    tokio::task::spawn_blocking(move || started.recv())
        .await
        .unwrap()
        .unwrap();
}

#[node(blocking)]
#[expect(clippy::too_many_arguments, reason = "one of each kind")]
fn measure(
    cx: &Context,
    text: &str,
    words: &[String],
    count: u32,
    owned: String,
    maybe: Option<&str>,
    more: Option<&u64>,
    taken: Option<Vec<u8>>,
) -> String {
    let (maybe, more, taken) = (
        maybe.map(str::len),
        more.copied(),
        taken.map(|taken| taken.len()),
    );
    format!(
        "{} {text} {words:?} {count} {owned} {maybe:?} {more:?} {taken:?}",
        cx.namespace()
    )
}

flow! {
    Measure(
        text: String, words: Vec<String>, count: u32, owned: String, maybe: Option<String>, more: Option<u64>,
        taken: Option<Vec<u8>>,
    ) -> (measure: String, text: String, owned: String) {
        start >> measure >> end;
    }
}

#[tokio::test]
async fn it_reads_what_any_step_may_read() {
    let input = MeasureInput {
        text: "text".into(),
        words: vec!["a".into()],
        count: 3,
        owned: "owned".into(),
        maybe: Some("maybe".into()),
        more: None,
        taken: Some(vec![1, 2]),
    };
    let out = Measure::new().run(input).await.unwrap();
    assert_eq!(
        out.measure,
        r#"measure.measure text ["a"] 3 owned Some(5) None Some(2)"#
    );
    assert_eq!((out.text.as_str(), out.owned.as_str()), ("text", "owned"));
}

#[node(blocking)]
fn thread_of(number: u64) -> (u64, ThreadId) {
    (number, thread::current().id())
}

flow! {
    ThreadOf(number: u64) -> (thread_of: (u64, ThreadId)) {
        start >> thread_of >> end;
    }
}

#[tokio::test]
async fn it_leaves_the_thread_of_the_run() {
    let out = ThreadOf::new()
        .run(ThreadOfInput { number: 1 })
        .await
        .unwrap();
    assert_ne!(out.thread_of.1, thread::current().id());
}

/// Goes on when as many are here as the barrier is for.
#[node(blocking)]
fn meet(number: u64, barrier: &Arc<Barrier>) -> u64 {
    barrier.wait();
    number * 2
}

#[node(blocking, writes = other)]
fn meet_too(barrier: &Arc<Barrier>) -> u64 {
    barrier.wait();
    7
}

flow! {
    MeetInBatch(numbers: Vec<u64>, barrier: Arc<Barrier>) -> (doubles: Vec<u64>) {
        node doubles: for number in numbers { meet } with concurrency(4);
        start >> doubles >> end;
    }
}

flow! {
    MeetInFork(number: u64, barrier: Arc<Barrier>) -> (meet: u64, other: u64) {
        start >> [meet, meet_too] >> end;
    }
}

#[tokio::test]
async fn items_and_branches_block_at_the_same_time() {
    let input = MeetInBatchInput {
        numbers: (0..12).collect(),
        barrier: Arc::new(Barrier::new(4)),
    };
    let out = MeetInBatch::new().run(input).await.unwrap();
    assert_eq!(
        out.doubles,
        (0..12).map(|number| number * 2).collect::<Vec<_>>()
    );

    let input = MeetInForkInput {
        number: 4,
        barrier: Arc::new(Barrier::new(2)),
    };
    let out = MeetInFork::new().run(input).await.unwrap();
    assert_eq!((out.meet, out.other), (8, 7));
}

#[node(blocking, retry(attempts = 3))]
fn unreliable(cx: &Context, text: String, calls: &Calls) -> Result<String, Broken> {
    calls.note(format!("{} {text}", cx.attempt()));
    match cx.attempt() {
        2 => Ok(text),
        _ => Err(Broken("busy")),
    }
}

flow! {
    Unreliable(text: String, calls: Calls) -> (unreliable: String) {
        start >> unreliable >> end;
    }
}

flow! {
    GivesUp(text: String, calls: Calls) -> (unreliable: Option<String>) {
        node unreliable: unreliable with retry(attempts = 2);
        start >> unreliable >> end;
        unreliable - "error" >> end("failed");
    }
}

#[tokio::test]
async fn it_may_be_retried_and_fail() {
    let calls = Calls::default();
    let input = UnreliableInput {
        text: "text".into(),
        calls: calls.clone(),
    };
    assert_eq!(
        Unreliable::new().run(input).await.unwrap().unreliable,
        "text"
    );
    assert_eq!(calls.all(), ["0 text", "1 text", "2 text"]);

    let input = GivesUpInput {
        text: "text".into(),
        calls: Calls::default(),
    };
    let out = GivesUp::new().run(input).await.unwrap();
    assert_eq!((out.end, out.unreliable), (GivesUpEnd::Failed, None));
}

#[node(blocking)]
fn explode(number: u64) -> u64 {
    assert!(number != 2, "cannot stand {number}");
    number
}

flow! {
    Explodes(numbers: Vec<u64>) -> (results: Vec<u64>) {
        node results: for number in numbers { explode } with concurrency(2);
        start >> results >> end;
    }
}

flow! {
    ExplodesInFork(number: u64) -> (explode: u64, thread_of: (u64, ThreadId)) {
        start >> [thread_of, explode] >> end;
    }
}

#[tokio::test]
async fn a_panic_on_the_pool_ends_the_run_and_names_its_place() {
    let error = Explodes::new()
        .run(ExplodesInput {
            numbers: vec![1, 2, 3],
        })
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "node `explodes.results[1]` panicked: cannot stand 2"
    );
    let error = ExplodesInFork::new()
        .run(ExplodesInForkInput { number: 2 })
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "node `explodes_in_fork.explode` panicked: cannot stand 2"
    );
}

type Shared<T> = Arc<Mutex<T>>;

#[node(blocking)]
fn stubborn(
    started: &Shared<mpsc::Sender<()>>,
    release: &Shared<mpsc::Receiver<()>>,
    calls: &Calls,
) {
    started.lock().unwrap().send(()).unwrap();
    release.lock().unwrap().recv().unwrap();
    calls.note("done all the same");
}

flow! {
    Stubborn(started: Shared<mpsc::Sender<()>>, release: Shared<mpsc::Receiver<()>>, calls: Calls) {
        start >> stubborn >> end;
    }
}

#[tokio::test]
async fn a_run_that_is_dropped_does_not_wait_for_the_pool() {
    let ((started, has_started), (release, released)) = (mpsc::channel(), mpsc::channel());
    let calls = Calls::default();
    let input = StubbornInput {
        started: Arc::new(Mutex::new(started)),
        release: Arc::new(Mutex::new(released)),
        calls: calls.clone(),
    };
    let flow = Stubborn::new();
    tokio::select! {
        _ = flow.run(input) => unreachable!("it is still blocked"),
        () = begun(has_started) => {}
    }
    assert_eq!(calls.count(), 0);
    release.send(()).unwrap();
    while calls.count() == 0 {
        thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(calls.all(), ["done all the same"]);
}

#[node(blocking, timeout = "1s")]
fn talks_on(cx: &Context, heard: &Shared<mpsc::Sender<()>>, release: &Shared<mpsc::Receiver<()>>) {
    cx.emit("before");
    release.lock().unwrap().recv().unwrap();
    cx.emit("after");
    heard.lock().unwrap().send(()).unwrap();
}

flow! {
    TalksOn(heard: Shared<mpsc::Sender<()>>, release: Shared<mpsc::Receiver<()>>) {
        start >> talks_on >> end;
    }
}

/// D-23: work that goes on after its attempt adds nothing to what was told of it.
#[tokio::test]
async fn what_goes_on_after_the_end_is_not_told_of() {
    let ((heard, has_spoken), (release, released)) = (mpsc::channel(), mpsc::channel());
    let input = TalksOnInput {
        heard: Arc::new(Mutex::new(heard)),
        release: Arc::new(Mutex::new(released)),
    };
    let calls = Calls::default();
    let told = calls.clone();
    let observer = move |event: &Event<'_>| told.note(event.to_string());
    let options = RunOptions::new().observer(Arc::new(observer));
    let error = TalksOn::new().run_with(input, options).await.unwrap_err();
    release.send(()).unwrap();
    begun(has_spoken).await;
    let all = calls.all();
    assert_eq!(
        all[..2],
        [
            "talks_on.talks_on started",
            "talks_on.talks_on delta: before"
        ]
    );
    assert_eq!(all.last().unwrap(), &format!("talks_on failed: {error:#}"));
}

flow_law::law! {
    nodes: [measure, thread_of, meet, meet_too, unreliable, explode, stubborn, talks_on],
    flows: [
        Measure,
        Unreliable,
        GivesUp,
    ],
    not_json: [ThreadOf, MeetInBatch, MeetInFork, ExplodesInFork, Stubborn, TalksOn],
    left_out: [Explodes],
}
