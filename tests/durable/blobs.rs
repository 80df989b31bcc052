//! Executions whose large values are beside the store.

use std::error::Error;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use flow_durable::{
    Execution, ExecutionId, ListQuery, Record, RecordKind, Runtime, RuntimeError, RuntimeOptions,
    StartOptions, Status, Store, StoreError,
};
use flow_runtime::prelude::*;
use flow_store::{BlobStore, Blobs, MemoryBlobs, is_blob_marker};
use serde_json::json;

use crate::stores::{Fault, Faulty};
use crate::support::{Shared, options, outcomes, runtime, settled};

/// What is large here.
const ABOVE: usize = 500;

const LEASE: Duration = Duration::from_secs(30);

fn large(text: &str) -> String {
    text.repeat(1000)
}

#[node(writes = page)]
fn write(number: &u64) -> String {
    large(&number.to_string())
}

#[derive(Debug, Clone, serde::Serialize, serde::Deserialize, Action)]
enum Next {
    More { to: u64 },
    Enough,
}

#[node(actions = Next)]
fn look(number: &u64) -> Next {
    if *number < 3 {
        Next::More { to: number + 1 }
    } else {
        Next::Enough
    }
}

#[node(writes = number)]
fn turn(to: &u64) -> u64 {
    *to
}

#[node(human = "What do you say?", writes = comment)]
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
struct Comment {
    text: String,
}

#[node(writes = book)]
fn bind(page: &str, comment: &Comment) -> String {
    format!("{page}{}", comment.text)
}

flow! {
    Book(number: u64) -> (book: String) {
        start >> write >> look;
        look - "more" >> turn >> write;
        look - "enough" >> Comment >> bind >> end;
    }
}

/// How many steps wait for ever.
static STUCK: AtomicUsize = AtomicUsize::new(0);

struct Waits;

impl Drop for Waits {
    fn drop(&mut self) {
        STUCK.fetch_sub(1, Ordering::SeqCst);
    }
}

#[node(writes = book)]
async fn linger(page: &str) -> String {
    STUCK.fetch_add(1, Ordering::SeqCst);
    let _waits = Waits;
    std::future::pending::<()>().await;
    page.to_owned()
}

flow! {
    Stuck(number: u64) -> (book: String) {
        start >> write >> linger >> end;
    }
}

/// Crashes the process before or after one of the calls that it makes of its store and its blobs.
#[derive(Debug)]
struct Crash {
    at: usize,
    made: AtomicUsize,
    /// Blobs cannot be listed.
    unlisted: AtomicBool,
}

impl Crash {
    fn pass(&self) -> Result<(), StoreError> {
        if self.made.fetch_add(1, Ordering::SeqCst) < self.at {
            return Ok(());
        }
        Err(StoreError::Other("the process has crashed".into()))
    }
}

#[derive(Debug)]
struct Crashing(Arc<Crash>);

impl Fault for Crashing {
    fn before(&self, _: &'static str) -> Result<(), StoreError> {
        self.0.pass()
    }

    fn after(&self, _: &'static str) -> Result<(), StoreError> {
        self.0.pass()
    }
}

#[derive(Debug)]
struct CrashingBlobs(Arc<MemoryBlobs>, Arc<Crash>);

#[async_trait::async_trait]
impl Blobs for CrashingBlobs {
    async fn put(&self, name: &str, value: Vec<u8>) -> Result<(), StoreError> {
        self.1.pass()?;
        self.0.put(name, value).await?;
        self.1.pass()
    }

    async fn get(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.1.pass()?;
        self.0.get(name).await
    }

    async fn delete(&self, name: &str) -> Result<(), StoreError> {
        self.1.pass()?;
        self.0.delete(name).await?;
        self.1.pass()
    }

    async fn names(&self, folder: &str) -> Result<Vec<String>, StoreError> {
        self.1.pass()?;
        if self.1.unlisted.load(Ordering::SeqCst) {
            return Err(StoreError::Other("no connection".into()));
        }
        self.0.names(folder).await
    }

    async fn folders(&self) -> Result<Vec<String>, StoreError> {
        self.1.pass()?;
        self.0.folders().await
    }
}

/// A store and its blobs, which survive their processes.
#[derive(Default)]
struct Kept {
    store: Shared,
    blobs: Arc<MemoryBlobs>,
}

impl Kept {
    fn whole(&self) -> BlobStore<Shared> {
        BlobStore::new(self.store.clone(), self.blobs.clone()).above(ABOVE)
    }

    /// A process that crashes at a call.
    fn crashing(&self, at: usize, options: RuntimeOptions) -> (Arc<Crash>, Runtime) {
        let crash = Arc::new(Crash {
            at,
            made: AtomicUsize::new(0),
            unlisted: AtomicBool::new(false),
        });
        let store = Faulty::new(&self.store, Crashing(crash.clone()));
        let blobs = CrashingBlobs(self.blobs.clone(), crash.clone());
        let store = BlobStore::new(store, blobs).above(ABOVE);
        let runtime = Runtime::with_options(store, options);
        runtime.register(Book::new()).unwrap();
        (crash, runtime)
    }

    async fn blobs_of(&self, id: ExecutionId) -> Vec<String> {
        self.blobs.names(&id.to_string()).await.unwrap()
    }
}

/// Starts it, or finds it started, and answers what is asked, until it is over.
async fn over(runtime: &Runtime) -> Result<Execution, RuntimeError> {
    let options = StartOptions::new().idempotency_key("the book");
    let started = runtime
        .executions()
        .start::<Book>(BookInput { number: 1 }, options);
    let execution = started.await?;
    loop {
        let settled = execution.settled().await?;
        if settled.status() != Status::Paused {
            return Ok(settled);
        }
        for question in settled.questions().await? {
            let answer = json!({ "text": large("fine") });
            runtime
                .executions()
                .resume(question.token(), answer)
                .await?;
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

fn expected() -> String {
    format!("{}{}", large("3"), large("fine"))
}

fn payloads(journal: &[Record]) -> Vec<(String, String)> {
    let outcomes = journal
        .iter()
        .filter(|record| record.kind == RecordKind::Outcome);
    outcomes
        .map(|record| (record.step.clone(), record.payload.clone()))
        .collect()
}

/// Crashes at each call, and returns how many there were.
async fn nothing_is_lost_or_doubled(
    options: impl Fn() -> RuntimeOptions,
    is_pruned: bool,
) -> usize {
    let kept = Kept::default();
    let (calls, undisturbed) = kept.crashing(usize::MAX, options());
    let done = over(&undisturbed).await.unwrap();
    let calls = calls.made.load(Ordering::SeqCst);
    let journal = done.journal().await;

    let mut crashes = 0;
    for at in 0..calls {
        let kept = Kept::default();
        let (crash, first) = kept.crashing(at, options());
        // One that waits for an answer, or for its turn, does not show that it cannot go on.
        let began = over(&first);
        let _ = tokio::time::timeout(2 * LEASE, began).await;
        crashes += usize::from(crash.made.load(Ordering::SeqCst) > at);
        first.shut_down().await;
        drop(first);

        tokio::time::sleep(2 * LEASE).await;
        let second = Runtime::with_options(kept.whole(), options());
        second.register(Book::new()).unwrap();
        second.recover().await.unwrap();
        let done = over(&second).await;
        let done = done.unwrap_or_else(|error| panic!("a crash at call {at}: {error}"));
        let output = done.output::<Book>().unwrap().unwrap();
        assert!(output.book == expected(), "a crash at call {at}");
        let listed = kept.store.list(&ListQuery::default()).await.unwrap();
        assert_eq!(listed.len(), 1, "a crash at call {at}");
        if !is_pruned {
            let found = done.journal().await.unwrap();
            let known = journal.as_ref().unwrap();
            assert!(outcomes(&found).values().all(|count| *count == 1));
            assert!(payloads(&found) == payloads(known), "a crash at call {at}");
        }

        second.executions().delete(done.id()).await.unwrap();
        assert!(kept.blobs_of(done.id()).await.is_empty());
        kept.whole().delete_orphans(u64::MAX).await.unwrap();
        assert!(kept.blobs.folders().await.unwrap().is_empty());
    }
    // Some calls depend on who looks first for work.
    assert!(crashes * 10 > calls * 9, "{crashes} of {calls}");
    calls
}

#[tokio::test(start_paused = true)]
async fn nothing_is_lost_or_doubled_by_a_crash_at_any_call() {
    let calls = nothing_is_lost_or_doubled(|| options().lease(LEASE), false).await;
    assert!(calls > 40, "{calls}");
}

#[tokio::test(start_paused = true)]
async fn nothing_is_lost_by_a_crash_where_history_is_removed() {
    let every = NonZeroUsize::new(3).unwrap();
    let pruning = || options().lease(LEASE).snapshot_every(every).prune_history();
    let calls = nothing_is_lost_or_doubled(pruning, true).await;
    assert!(calls > 60, "{calls}");
}

#[tokio::test(start_paused = true)]
async fn history_that_is_removed_has_no_blobs() {
    let kept = Kept::default();
    let every = NonZeroUsize::new(3).unwrap();
    let runtime = Runtime::with_options(
        kept.whole(),
        options().snapshot_every(every).prune_history(),
    );
    runtime.register(Book::new()).unwrap();
    let done = over(&runtime).await.unwrap();
    let row = kept.store.execution(done.id()).await.unwrap().unwrap();
    let oldest = format!("{}/{:020}", done.id(), row.snapshot_seq.unwrap());
    let names = kept.blobs_of(done.id()).await;
    assert!(names.iter().all(|name| *name >= oldest), "{names:?}");
}

/// A copy has its own, whatever becomes of the original.
#[tokio::test(start_paused = true)]
async fn a_copy_survives_its_original() {
    let kept = Kept::default();
    let runtime = Runtime::with_options(kept.whole(), options());
    runtime.register(Book::new()).unwrap();
    let done = over(&runtime).await.unwrap();
    let journal = done.journal().await.unwrap();
    let copy = runtime
        .executions()
        .copy(done.id(), journal.len() as u64 - 3)
        .await
        .unwrap();
    runtime.executions().delete(done.id()).await.unwrap();
    assert!(kept.blobs_of(done.id()).await.is_empty());
    let copied = copy.settled().await.unwrap();
    assert_eq!(copied.status(), Status::Completed);
    assert!(copied.output::<Book>().unwrap().unwrap().book == expected());
    assert!(copied.journal().await.unwrap().len() >= journal.len());
}

/// A process without the blobs says so, and changes nothing; one with them goes on.
#[tokio::test(start_paused = true)]
async fn a_process_without_the_blobs_says_so() {
    let kept = Kept::default();
    let first = Runtime::with_options(kept.whole(), options());
    first.register(Book::new()).unwrap();
    let asking = settled::<Book>(&first, BookInput { number: 3 }).await;
    assert_eq!(asking.status(), Status::Paused);
    let id = asking.id();
    first.shut_down().await;
    let before = kept.store.records(id, 0, 99).await.unwrap();
    assert!(before.iter().any(|record| is_blob_marker(&record.payload)));

    let without = runtime(kept.store.clone(), Book::new());
    let token = asking.questions().await.unwrap()[0].token();
    let answer = json!({ "text": "short" });
    let error = without
        .executions()
        .resume(token, answer.clone())
        .await
        .unwrap_err();
    let told = error.to_string();
    assert!(
        told.contains("is kept as a blob") && told.contains("`BlobStore`"),
        "{told}"
    );
    assert_eq!(kept.store.records(id, 0, 99).await.unwrap(), before);
    without.shut_down().await;

    let second = Runtime::with_options(kept.whole(), options());
    second.register(Book::new()).unwrap();
    let answered = second.executions().resume(token, answer).await.unwrap();
    let done = answered.settled().await.unwrap();
    assert_eq!(done.status(), Status::Completed);
    let without = Runtime::with_options(kept.store.clone(), options());
    let done = without.executions().get(id).await.unwrap();
    let told = done.output_json().unwrap_err().to_string();
    assert!(
        told.contains("the stored output is kept as a blob"),
        "{told}"
    );
}

/// Nothing is done with what is only a marker, whether the flow is registered or not.
#[tokio::test(start_paused = true)]
async fn a_copy_of_markers_is_refused() {
    let kept = Kept::default();
    let first = Runtime::with_options(kept.whole(), options());
    first.register(Book::new()).unwrap();
    let done = over(&first).await.unwrap();
    let last = done.record_count() - 1;
    first.shut_down().await;
    for without in [
        Runtime::with_options(kept.store.clone(), options()),
        runtime(kept.store.clone(), Book::new()),
    ] {
        for refused in [
            without.executions().copy(done.id(), last).await.map(drop),
            without.executions().state(done.id(), last).await.map(drop),
            without.executions().writes(done.id(), last).await.map(drop),
        ] {
            let told = refused.unwrap_err().to_string();
            assert!(told.contains("is kept as a blob"), "{told}");
        }
    }
    let listed = kept.store.list(&ListQuery::default()).await.unwrap();
    assert_eq!(listed.len(), 1);
}

/// Shows a marker in the place of the payloads of records of a kind.
#[derive(Debug)]
struct Marked(RecordKind);

impl Fault for Marked {
    fn read(&self, mut records: Vec<Record>) -> Vec<Record> {
        for record in &mut records {
            if record.kind == self.0 {
                record.payload = format!("flow-blob:{}:{}:9000", record.seq, "0".repeat(64));
            }
        }
        records
    }
}

/// Texts are not taken for what they are not either.
#[tokio::test(start_paused = true)]
async fn a_marker_in_a_record_of_any_kind_is_refused() {
    let kept = Kept::default();
    let first = runtime(kept.store.clone(), Book::new());
    let done = over(&first).await.unwrap();
    let last = done.record_count() - 1;
    first.shut_down().await;
    for kind in [RecordKind::NodeFinished, RecordKind::FlowEnded] {
        let store = Faulty::new(&kept.store, Marked(kind));
        for without in [
            Runtime::with_options(store.clone(), options()),
            runtime(store.clone(), Book::new()),
        ] {
            let refused = without.executions().copy(done.id(), last).await;
            let told = refused.unwrap_err().to_string();
            assert!(told.contains("is kept as a blob"), "{kind}: {told}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_reason_without_the_blobs_is_no_marker() {
    let kept = Kept::default();
    let first = Runtime::with_options(kept.whole(), options());
    first.register(Book::new()).unwrap();
    let asking = settled::<Book>(&first, BookInput { number: 3 }).await;
    let cancelled = first
        .executions()
        .cancel(asking.id(), &large("no"))
        .await
        .unwrap();
    assert_eq!(cancelled.reason(), Some(&*large("no")));
    let without = Runtime::with_options(kept.store.clone(), options());
    let cancelled = without.executions().get(asking.id()).await.unwrap();
    let told = cancelled.reason().unwrap();
    assert!(told.starts_with("the reason is kept as a blob"), "{told}");
}

/// An execution whose output is lost can be removed, by its owner.
#[tokio::test(start_paused = true)]
async fn an_execution_whose_output_is_lost_can_be_deleted() {
    let kept = Kept::default();
    let runtime = Runtime::with_options(kept.whole(), options());
    runtime.register(Book::new()).unwrap();
    let done = over(&runtime).await.unwrap();
    let id = done.id();
    for name in kept.blobs_of(id).await {
        kept.blobs.delete(&name).await.unwrap();
    }
    let error = runtime.executions().get(id).await.unwrap_err().to_string();
    assert!(error.contains("the store is damaged"), "{error}");
    let foreign = runtime.owned_by("ann").delete(id).await;
    assert!(
        matches!(foreign, Err(RuntimeError::NotFound(_))),
        "{foreign:?}"
    );
    assert!(kept.store.execution(id).await.unwrap().is_some());
    runtime.executions().delete(id).await.unwrap();
    assert!(kept.store.execution(id).await.unwrap().is_none());
}

/// What a deletion left behind goes with the next one, and the run ends with the first.
#[tokio::test(start_paused = true)]
async fn what_a_deletion_left_behind_goes_with_the_next_one() {
    let kept = Kept::default();
    let (crash, runtime) = kept.crashing(usize::MAX, options());
    runtime.register(Stuck::new()).unwrap();
    let started = runtime
        .executions()
        .start::<Stuck>(StuckInput { number: 3 }, StartOptions::new());
    let id = started.await.unwrap().id();
    while kept.store.records(id, 0, 99).await.unwrap().len() < 3 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert_eq!(STUCK.load(Ordering::SeqCst), 1);
    assert!(!kept.blobs_of(id).await.is_empty());

    crash.unlisted.store(true, Ordering::SeqCst);
    let error = runtime.executions().delete(id).await.unwrap_err();
    let mut told = String::new();
    let mut cause: Option<&dyn Error> = Some(&error);
    while let Some(error) = cause {
        told.push_str(&error.to_string());
        cause = error.source();
    }
    let expected = "is deleted, but not all of its blobs: deleting it again removes them";
    assert!(told.contains(expected), "{told}");
    assert!(kept.store.execution(id).await.unwrap().is_none());
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert_eq!(STUCK.load(Ordering::SeqCst), 0, "its step goes on");
    crash.unlisted.store(false, Ordering::SeqCst);

    let again = runtime.executions().delete(id).await;
    assert!(matches!(again, Err(RuntimeError::NotFound(_))), "{again:?}");
    assert!(kept.blobs_of(id).await.is_empty());
}

flow_law::law! {
    nodes: [write, look, turn, Comment, bind, linger],
    flows: [Book, Stuck],
    types: [Comment],
}
