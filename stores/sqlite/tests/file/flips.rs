//! A file with one byte flipped: what is read from it is an error, or what was written.

use std::collections::BTreeMap;
use std::fmt::{Debug, Display};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use flow_durable::{
    Append, EventFilter, Events, ExecutionId, Executions, ListOptions, ListQuery, Runtime,
    RuntimeError, RuntimeOptions, Settlement, StartOptions, Status, Store, Token,
};
use flow_runtime::prelude::*;
use flow_sqlite::SqliteStore;
use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{Folder, until};
use flow_store::NewSignal;
use flow_store::suite::fixtures::{LEASE, NOW, append, signal};

/// How many bytes are flipped, unless the environment says otherwise: `all` is each of them.
const FLIPS: &str = "FLOW_STORES_TEST_FLIPS";

#[derive(Serialize, Deserialize)]
#[node(human = "Pay {amount}?", timeout = "7d")]
enum Decision {
    Yes { by: String },
    No,
}

#[node(writes = checked)]
fn check(amount: &u64) -> Result<u64, String> {
    match amount {
        0 => Err("nothing to pay".to_owned()),
        amount => Ok(amount + 1),
    }
}

#[node(writes = receipt)]
fn pay(checked: &u64, by: &str) -> String {
    format!("{checked} paid by {by}")
}

flow! {
    pub(crate) Payment(amount: u64) -> (receipt: Option<String>) {
        start >> check >> Decision;
        Decision - "yes" >> pay >> end;
        Decision - "no" >> end("refused");
        Decision - "timeout" >> end("refused");
    }
}

#[node(writes = number)]
fn increase(number: u64) -> u64 {
    number + 1
}

flow! {
    pub(crate) Rounds(number: u64) -> (number: u64) {
        branch again(number) {
            *number < 12 => "again",
            else => "done",
        }
        start >> increase >> again;
        again - "again" >> increase;
        again - "done" >> end;
    }
}

/// What is in the file.
#[derive(Debug, Clone, Default)]
struct Known {
    executions: Vec<(ExecutionId, Option<&'static str>)>,
    tokens: Vec<Token>,
    structures: Vec<String>,
}

fn options() -> RuntimeOptions {
    let now = UNIX_EPOCH + Duration::from_millis(NOW);
    RuntimeOptions::new().clock(move || now)
}

pub(crate) fn runtime(store: impl Store, options: RuntimeOptions) -> Runtime {
    let runtime = Runtime::with_options(store, options);
    runtime.register(Payment::new()).unwrap();
    runtime.register(Rounds::new()).unwrap();
    runtime
}

/// A file with executions in every state.
async fn written(path: &Path) -> Known {
    let known = executions_in(path).await;
    let log = PathBuf::from(format!("{}-wal", path.display()));
    until(async || !log.exists()).await;
    known
}

async fn executions_in(path: &Path) -> Known {
    let store = Arc::new(SqliteStore::open(path).await.unwrap());
    let runtime = runtime(store.clone(), options());
    let ann = runtime.owned_by("ann");
    let key = StartOptions::new().idempotency_key("order 17");
    let mut known = Known::default();
    let mut asked = Vec::new();
    for amount in 0..7 {
        let input = PaymentInput { amount };
        let (started, owner) = match amount {
            1 => (ann.start::<Payment>(input, key.clone()).await, Some("ann")),
            _ => (
                runtime
                    .executions()
                    .start::<Payment>(input, StartOptions::new())
                    .await,
                None,
            ),
        };
        let execution = started.unwrap().settled().await.unwrap();
        known.executions.push((execution.id(), owner));
        let questions = execution.questions().await.unwrap();
        known.tokens.extend(questions.iter().map(|it| it.token()));
        asked.push(questions.first().map(|it| it.token()));
    }
    // 0 has failed, and 1 and 2 wait.
    let answer = |by: &str| Decision::Yes { by: by.to_owned() };
    let completed = runtime
        .executions()
        .resume(asked[3].unwrap(), answer("ann"))
        .await;
    let completed = completed.unwrap().settled().await.unwrap();
    assert_eq!(completed.status(), Status::Completed);
    runtime
        .executions()
        .cancel(known.executions[4].0, "cancelled")
        .await
        .unwrap();
    let settlement = Settlement::Answer("\"No\"".to_owned());
    let settled = store.settle(asked[5].unwrap(), settlement, NOW).await;
    settled.unwrap();
    let copy = runtime.executions().copy(completed.id(), 2).await.unwrap();
    let copy = copy.settled().await.unwrap();
    known.executions.push((copy.id(), None));
    // A process holds this one, and has held that one.
    for (claimed, now) in [(6, NOW), (2, NOW - 2 * LEASE)] {
        let id = known.executions[claimed].0;
        let claim = store.claim(id, Uuid::new_v4(), now, now + LEASE).await;
        let fence = claim.unwrap().unwrap().fence;
        let runs = Append {
            status: Some(Status::Running),
            now_ms: NOW,
            ..Default::default()
        };
        store.append(id, fence, runs).await.unwrap();
    }
    for (of, name, key) in [
        (1, "paid", Some("k")),
        (6, "paid", Some("k")),
        (6, "called", None),
    ] {
        let sent = NewSignal {
            key: key.map(str::to_owned),
            ..signal(name)
        };
        store.signal(known.executions[of].0, sent).await.unwrap();
        let again = signal("another");
        store.signal(known.executions[of].0, again).await.unwrap();
    }
    let take = Append {
        taken: vec![1, 2],
        ..append(Vec::new())
    };
    let id = known.executions[6].0;
    let fence = store.execution(id).await.unwrap().unwrap().fence;
    store.append(id, fence, take).await.unwrap();
    for prunes in [false, true] {
        let options = options().snapshot_every(NonZeroUsize::new(5).unwrap());
        let options = if prunes {
            options.prune_history()
        } else {
            options
        };
        let rounds = self::runtime(store.clone(), options);
        let input = RoundsInput { number: 0 };
        let started = rounds
            .executions()
            .start::<Rounds>(input, StartOptions::new())
            .await;
        let execution = started.unwrap().settled().await.unwrap();
        assert_eq!(execution.status(), Status::Completed);
        known.executions.push((execution.id(), None));
    }
    for (id, _) in &known.executions {
        let row = store.execution(*id).await.unwrap().unwrap();
        known.structures.push(row.structure);
    }
    known.structures.sort();
    known.structures.dedup();
    known
}

/// What a read gave.
#[derive(Debug, Clone, PartialEq, Default)]
struct Given {
    items: Vec<String>,
    /// What it says that it could not read.
    damaged: Vec<String>,
}

/// What each read gave, by its name.
#[derive(Debug, Default)]
struct Reads(BTreeMap<String, Result<Given, String>>);

impl Reads {
    fn add<T: Debug>(
        &mut self,
        name: String,
        given: Result<impl IntoIterator<Item = T>, impl Display>,
    ) {
        let given = given.map(|items| Given {
            items: items.into_iter().map(|item| format!("{item:?}")).collect(),
            damaged: Vec::new(),
        });
        self.add_given(name, given);
    }

    /// What was read, and what was said not to be readable.
    fn add_each<T: Debug, D: Display>(
        &mut self,
        name: String,
        read: Result<impl IntoIterator<Item = Result<T, D>>, impl Display>,
    ) {
        let given = read.map(|items| {
            let mut given = Given::default();
            for item in items {
                match item {
                    Ok(item) => given.items.push(format!("{item:?}")),
                    Err(damaged) => given.damaged.push(damaged.to_string()),
                }
            }
            given
        });
        self.add_given(name, given);
    }

    async fn add_events(&mut self, name: String, events: Result<Events, RuntimeError>) {
        let mut events = match events {
            Ok(events) => events,
            Err(error) => return self.add_given(name, Err(error)),
        };
        let (mut given, mut described) = (Given::default(), Given::default());
        while let Some(event) = events.next().await {
            match event {
                Ok(event) => {
                    described.items.push(format!("{event:?}"));
                    given.items.push(format!("{:?}", event.record()));
                }
                Err(error) if given.damaged.last() == Some(&error.to_string()) => break,
                Err(error) => given.damaged.push(error.to_string()),
            }
        }
        // Once something could not be read, the stream may know less of the others.
        if given.damaged.is_empty() {
            self.add_given(format!("{name}, described"), Ok::<_, String>(described));
        }
        self.add_given(name, Ok::<_, String>(given));
    }

    fn add_given(&mut self, name: String, given: Result<Given, impl Display>) {
        let given = given.map_err(|error| error.to_string());
        assert!(self.0.insert(name, given).is_none());
    }
}

/// All that can be read, read by read. An error if the file is refused.
async fn read(path: &Path, known: &Known) -> Result<Reads, String> {
    let opened = SqliteStore::open(path).await;
    let store = Arc::new(opened.map_err(|error| error.to_string())?);
    let mut reads = Reads::default();
    for (id, _) in &known.executions {
        let row = store.execution(*id).await;
        reads.add(format!("store.execution {id}"), row);
        let records = store.records(*id, 0, usize::MAX).await;
        reads.add(format!("store.records {id}"), records);
        let records = store.records(*id, 2, 2).await;
        reads.add(format!("store.records 2..4 {id}"), records);
        let pauses = store.pauses(*id).await;
        reads.add(format!("store.pauses {id}"), pauses);
        let signals = store.signals(*id).await;
        reads.add(format!("store.signals {id}"), signals);
    }
    for token in &known.tokens {
        let pause = store.pause(*token).await;
        reads.add(format!("store.pause {token}"), pause);
    }
    for hash in &known.structures {
        let structure = store.structure(hash).await;
        reads.add(format!("store.structure {hash}"), structure);
    }
    let row = store.execution(Uuid::from_u128(1 << 64).into()).await;
    reads.add("store.execution-of-nobody".to_owned(), row);
    let pause = store.pause(Uuid::from_u128(1 << 120).into()).await;
    reads.add("store.pause-of-nobody".to_owned(), pause);
    for (number, query) in queries().iter().enumerate() {
        let listed = store.list(query).await;
        reads.add_each(format!("store.list {number}"), listed);
    }
    for (number, now) in [NOW, NOW + LEASE, NOW + 8 * 86_400_000].iter().enumerate() {
        let due = store.due(*now, None, 100).await;
        reads.add_each(format!("store.due {number}"), due);
    }
    for after in [0, 20] {
        let log = store.log(None, after, 1000).await;
        let log = log.map(|log| log.into_iter().map(|it| it.map_err(|it| it.damaged)));
        reads.add_each(format!("store.log {after}"), log);
    }
    for (id, _) in &known.executions {
        for after in [0, 20] {
            let log = store.log(Some(*id), after, 1000).await;
            let log = log.map(|log| log.into_iter().map(|it| it.map_err(|it| it.damaged)));
            reads.add_each(format!("store.log of {id} {after}"), log);
        }
    }
    let last = store.last_offset().await.map(|offset| [offset]);
    reads.add("store.last_offset".to_owned(), last);

    macro_rules! through {
        ($runtime:expr, $owner:expr) => {
            let (runtime, owner): (&Executions, _) = (&$runtime, $owner);
            for (id, _) in known.executions.iter().filter(|(_, of)| *of == owner) {
                match runtime.get(*id).await {
                    Err(error) => {
                        reads.add::<()>(format!("runtime.get {id}"), Err::<[(); 0], _>(error))
                    }
                    Ok(execution) => {
                        let shown = Ok::<_, String>([&execution]);
                        reads.add(format!("runtime.get {id}"), shown);
                        let output = execution.output_json().map(|output| [output]);
                        reads.add(format!("execution.output {id}"), output);
                        let journal = execution.journal().await;
                        reads.add(format!("execution.journal {id}"), journal);
                        let questions = execution.questions().await;
                        reads.add(format!("execution.questions {id}"), questions);
                    }
                }
                for seq in [3, 7] {
                    let state = runtime.state(*id, seq).await.map(|state| [state]);
                    reads.add(format!("runtime.state-{seq} {id}"), state);
                }
            }
            let listed = runtime.list(ListOptions::new()).await;
            let listed = listed.map(|listed| {
                let damaged = listed.damaged().to_vec().into_iter().map(Err);
                listed.into_iter().map(Ok).chain(damaged)
            });
            reads.add_each(format!("runtime.list {owner:?}"), listed);
            let filter = EventFilter::new().from_start().until_now();
            let events = runtime.events(filter).await;
            let name = format!("runtime.events {owner:?}");
            reads.add_events(name, events).await;
        };
    }
    let runtime = runtime(store.clone(), options());
    through!(runtime.executions(), None);
    through!(runtime.owned_by("ann"), Some("ann"));
    Ok(reads)
}

fn queries() -> Vec<ListQuery> {
    let mut queries = vec![ListQuery::default()];
    for owner in [None, Some("ann".to_owned())] {
        let owned = ListQuery {
            owner: Some(owner),
            ..ListQuery::default()
        };
        queries.push(owned.clone());
        queries.push(ListQuery {
            status: Some(Status::Paused),
            ..owned.clone()
        });
        queries.push(ListQuery {
            flow: Some("Payment".to_owned()),
            created_before_ms: Some(NOW + 1),
            ..owned
        });
    }
    queries
}

/// What a flipped byte came to, for one read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    /// It gives what it gave before.
    Equal,
    /// It gives an error.
    Error,
    /// It gives the rest, and says what it could not read.
    Rest,
    /// Something is missing, it does not say so, and `PRAGMA integrity_check` does.
    Hidden,
    /// Something is missing, and nothing says so.
    Missing,
    /// It gives something else.
    Other,
}

fn verdict(before: &Result<Given, String>, after: &Result<Given, String>) -> Verdict {
    let (before, after) = match (before, after) {
        (before, after) if before == after => return Verdict::Equal,
        (_, Err(_)) => return Verdict::Error,
        (Err(_), Ok(_)) => return Verdict::Other,
        (Ok(before), Ok(after)) => (before, after),
    };
    let mut rest = before.items.iter();
    let is_part = after.items.iter().all(|item| rest.any(|it| it == item));
    match (is_part, after.damaged.is_empty()) {
        (true, false) => Verdict::Rest,
        (true, true) => Verdict::Missing,
        (false, _) => Verdict::Other,
    }
}

/// How often each verdict was given on each kind of read, `file` being the verdict that is worst.
#[derive(Debug, Default)]
struct Tally(BTreeMap<(String, Verdict), usize>);

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_flipped_byte_is_never_taken_for_something_that_was_written() {
    let folder = Folder::new();
    let known = written(&folder.path()).await;
    let whole = std::fs::read(folder.path()).unwrap();
    let before = Arc::new(read(&folder.path(), &known).await.unwrap());
    for (name, given) in &before.0 {
        let is_whole = given.as_ref().is_ok_and(|given| given.damaged.is_empty());
        let beyond = name.starts_with("runtime.state");
        assert!(is_whole || beyond, "{name}: {given:?}");
    }

    let flips = std::env::var(FLIPS).unwrap_or_else(|_| "300".to_owned());
    let mut random = fastrand::Rng::with_seed(17);
    let places: Vec<usize> = match &*flips {
        "all" => (0..whole.len()).collect(),
        number => {
            let number: usize = number.parse().unwrap();
            (0..number).map(|_| random.usize(..whole.len())).collect()
        }
    };
    let flips: Vec<(usize, u8)> = places
        .into_iter()
        .map(|place| (place, random.u8(1..)))
        .collect();
    let (known, whole, flips) = (Arc::new(known), Arc::new(whole), Arc::new(flips));
    let tasks: Vec<_> = (0..4)
        .map(|task| {
            let (known, whole) = (known.clone(), whole.clone());
            let (before, flips) = (before.clone(), flips.clone());
            tokio::spawn(async move {
                let folder = Folder::new();
                let mut tally = Tally::default();
                for (number, (place, flip)) in flips.iter().enumerate().skip(task).step_by(4) {
                    let mut damaged = whole.to_vec();
                    damaged[*place] ^= flip;
                    let path = folder.0.path().join(format!("{number}.db"));
                    std::fs::write(&path, &damaged).unwrap();
                    let after = read(&path, &known).await;
                    tally.add(&before, after, is_whole(&path), *place, *flip);
                    remove(&path);
                }
                tally
            })
        })
        .collect();
    let mut tally = Tally::default();
    for task in tasks {
        for (key, count) in task.await.unwrap().0 {
            *tally.0.entry(key).or_default() += count;
        }
    }
    println!("{} bytes, {} flips", whole.len(), flips.len());
    let mut wrong = Vec::new();
    for ((read, verdict), count) in &tally.0 {
        println!("{read:28} {verdict:?} {count}");
        if *verdict >= Verdict::Missing {
            wrong.push(format!("{count} times {read} gave {verdict:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

impl Tally {
    fn add(
        &mut self,
        before: &Reads,
        after: Result<Reads, String>,
        is_whole: bool,
        place: usize,
        flip: u8,
    ) {
        let mut worst = Verdict::Equal;
        match after {
            Err(_) => worst = Verdict::Error,
            Ok(after) => {
                for (name, given) in &after.0 {
                    let Some(expected) = before.0.get(name) else {
                        panic!("{name} was not read before");
                    };
                    let verdict = match verdict(expected, given) {
                        Verdict::Missing if !is_whole => Verdict::Hidden,
                        verdict => verdict,
                    };
                    worst = worst.max(verdict);
                    let kind = name.split(' ').next().unwrap_or_default();
                    *self.0.entry((kind.to_owned(), verdict)).or_default() += 1;
                    if verdict >= Verdict::Missing {
                        println!(
                            "byte {place} of page {}, flipped by {flip:#x}: {name} {verdict:?}\n{given:?}",
                            1 + place / 4096
                        );
                    }
                }
            }
        }
        *self.0.entry(("file".to_owned(), worst)).or_default() += 1;
    }
}

/// Whether SQLite itself finds no damage.
fn is_whole(path: &Path) -> bool {
    let check = |raw: Connection| {
        raw.query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0))
    };
    let found = Connection::open(path).and_then(check);
    found.is_ok_and(|found| found == "ok")
}

/// Removes a file with those beside it.
fn remove(path: &Path) {
    for suffix in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{suffix}", path.display()));
    }
}
