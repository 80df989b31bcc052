//! Histories of threads and of processes, each with its own connections to one store, whose clocks
//! do not agree: of SQLite, of Postgres and of Redis.
//!
//! A history that no order of its calls explains is printed with its seed. The order in which the
//! calls come is not made from the seed, so a failure may take several runs: `HISTORIES=20000
//! SEED=7 cargo test -p flow-histories linear`.

use std::collections::BTreeMap;
use std::error::Error;
use std::process::{Child, Command, Stdio};
use std::sync::{Barrier, Mutex, OnceLock};
use std::thread::scope;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use flow_histories::{Asks, Call, Caller, Line, World, store_at};
use flow_services::{Postgres, Redis};
use flow_store::{MemoryStore, Store};
use futures_executor::block_on;
use stateright::semantics::{ConsistencyTester as _, LinearizabilityTester};
use tokio::runtime::Runtime;
use tokio::time::timeout;
use uuid::Uuid;

use crate::spec::Spec;

type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

/// Who asks at the same time.
const CALLERS: u8 = 3;

/// How much each of them asks.
const CALLS: usize = 6;

fn number(variable: &str, otherwise: u64) -> Outcome<u64> {
    match std::env::var(variable) {
        Ok(text) => Ok(text
            .parse()
            .map_err(|_| format!("{variable} is no number"))?),
        Err(_) => Ok(otherwise),
    }
}

/// What happened, in the order in which it did, and whether one order of the calls explains it.
struct History {
    tester: LinearizabilityTester<u16, Spec>,
    lines: Vec<String>,
}

impl History {
    fn new(number: u64) -> Self {
        let world = World::alone(number);
        History {
            tester: LinearizabilityTester::new(Spec::new(world)),
            lines: Vec::new(),
        }
    }

    fn asked(&mut self, caller: u16, call: &Call) -> Outcome {
        self.lines.push(format!("{caller} asks {call:?}"));
        self.tester.on_invoke(caller, call.clone())?;
        Ok(())
    }

    fn answered(&mut self, caller: u16, answer: &str) -> Outcome {
        self.lines.push(format!("{caller} is told {answer}"));
        if answer.contains("failed: ") {
            return Err(format!("the store failed: {answer}").into());
        }
        self.tester.on_return(caller, answer.to_owned())?;
        Ok(())
    }

    fn is_explained(&self) -> bool {
        self.tester.is_consistent()
    }

    fn check(&self, seed: u64) {
        let lines = self.lines.join("\n  ");
        assert!(
            self.is_explained(),
            "no order of the calls explains this, of seed {seed}:\n  {lines}"
        );
    }
}

/// A store of its own.
struct Place {
    name: &'static str,
    /// As [`store_at`] takes it.
    at: String,
    /// How long a call that is given up is waited for at most: where it is a file, it has been asked
    /// at once.
    patience_ms: u64,
    /// How long a few calls take.
    turn_ms: u64,
    /// Of a file.
    _folder: Option<tempfile::TempDir>,
}

impl Place {
    fn file() -> Outcome<Place> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("histories.db");
        Ok(Place {
            name: "SQLite",
            at: file.to_string_lossy().into_owned(),
            patience_ms: 0,
            turn_ms: 15,
            _folder: Some(folder),
        })
    }

    /// `None` if it is not installed.
    fn postgres() -> Option<Place> {
        static SERVER: OnceLock<Option<Postgres>> = OnceLock::new();
        let server = SERVER.get_or_init(Postgres::start).as_ref()?;
        let schema = Uuid::new_v4().simple();
        let at = format!("{}?schema=histories_{schema}", server.url());
        Some(Place::on_server("Postgres", at))
    }

    /// `None` if it is not installed.
    fn redis() -> Option<Place> {
        static SERVER: OnceLock<Option<Redis>> = OnceLock::new();
        let server = SERVER.get_or_init(Redis::start).as_ref()?;
        let at = format!("{}?name={}", server.url(), Uuid::new_v4());
        Some(Place::on_server("Redis", at))
    }

    fn on_server(name: &'static str, at: String) -> Place {
        Place {
            name,
            at,
            patience_ms: 4,
            turn_ms: 40,
            _folder: None,
        }
    }
}

/// Asks a store at random. What is given up goes on without its caller, who then is another one.
fn ask(
    (store, tokio, place): (&dyn Store, &Runtime, &Place),
    history: &Mutex<History>,
    number: u8,
    world: World,
    seed: u64,
) -> Outcome {
    let lock = || history.lock().map_err(|_| "a thread panicked");
    let mut caller = Caller::new(number, seed, Asks::of(&place.at));
    let mut name = u16::from(number);
    for _ in 0..CALLS {
        let call = caller.next_call();
        let patience = Duration::from_millis(if caller.gives_up() {
            fastrand::u64(..=place.patience_ms)
        } else {
            u64::MAX
        });
        lock()?.asked(name, &call)?;
        let asking = call.ask(store, world);
        let Ok(answer) = tokio.block_on(async { timeout(patience, asking).await }) else {
            // It may have been asked. Nobody knows whether it is done.
            name += 100;
            continue;
        };
        lock()?.answered(name, &answer.text)?;
        caller.learn(&call, &answer);
    }
    Ok(())
}

#[test]
fn what_threads_see_of_one_file_is_what_one_after_the_other_could_see() -> Outcome {
    threads(&Place::file()?, 1500)
}

#[test]
fn what_threads_see_of_postgres_is_what_one_after_the_other_could_see() -> Outcome {
    Place::postgres().map_or(Ok(()), |place| threads(&place, 150))
}

#[test]
fn what_threads_see_of_redis_is_what_one_after_the_other_could_see() -> Outcome {
    Place::redis().map_or(Ok(()), |place| threads(&place, 150))
}

/// Each thread has connections of its own to the store, or they share them: then several writes to a file are put
/// together.
fn threads(place: &Place, histories: u64) -> Outcome {
    let histories = number("HISTORIES", histories)?;
    let first = number("SEED", fastrand::u64(..1 << 40))?;
    let all: Vec<Mutex<History>> = (0..histories)
        .map(|number| Mutex::new(History::new(number)))
        .collect();
    let tokio = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let shared = tokio.block_on(store_at(&place.at))?;
    let together = Barrier::new(usize::from(CALLERS));
    scope(|threads| -> Outcome {
        let work = |caller: u8| -> Outcome {
            let own = tokio.block_on(store_at(&place.at));
            let mut outcome = own.as_ref().map(drop).map_err(ToString::to_string);
            for (history, number) in all.iter().zip(0..) {
                let after = tokio.block_on(shared.last_offset());
                // Nobody is left alone at the barrier.
                together.wait();
                let (Ok(()), Ok(own)) = (&outcome, &own) else {
                    continue;
                };
                let store = match number % 2 {
                    0 => own,
                    _ => &shared,
                };
                let after = after.unwrap_or(0);
                let world = World { number, after };
                let of = (&**store, &tokio, place);
                outcome = ask(of, history, caller, world, first + number)
                    .map_err(|error| error.to_string());
            }
            Ok(outcome?)
        };
        let threads: Vec<_> = (0..CALLERS)
            .map(|caller| threads.spawn(move || work(caller)))
            .collect();
        for thread in threads {
            thread.join().map_err(|_| "a thread panicked")??;
        }
        Ok(())
    })?;
    let mut concurrent = 0;
    for (history, seed) in all.into_iter().zip(first..) {
        let history = history.into_inner()?;
        let pairs = history.lines.windows(2);
        concurrent += pairs
            .filter(|pair| pair.iter().all(|line| line.contains(" asks ")))
            .count();
        history.check(seed);
    }
    let name = place.name;
    println!("{name}: {histories} histories, {concurrent} calls made while another was under way");
    assert!(
        concurrent as u64 > histories,
        "hardly anything happened at the same time"
    );
    Ok(())
}

/// Kills a process that is still there when a test is over.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        // It fails only where the process is over already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn process(place: &Place, arguments: [u64; 6]) -> Outcome<Process> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_flow-histories"));
    command
        .arg(&place.at)
        .args(arguments.map(|argument| argument.to_string()));
    Ok(Process(command.stdout(Stdio::piped()).spawn()?))
}

#[test]
fn what_processes_see_of_one_file_is_what_one_after_the_other_could_see() -> Outcome {
    processes(&Place::file()?, 200)
}

#[test]
fn what_processes_see_of_postgres_is_what_one_after_the_other_could_see() -> Outcome {
    Place::postgres().map_or(Ok(()), |place| processes(&place, 60))
}

#[test]
fn what_processes_see_of_redis_is_what_one_after_the_other_could_see() -> Outcome {
    Place::redis().map_or(Ok(()), |place| processes(&place, 60))
}

fn processes(place: &Place, worlds: u64) -> Outcome {
    let worlds = number("WORLDS", worlds)?;
    let seed = number("SEED", fastrand::u64(..1 << 40))?;
    // The tables are there before anybody begins.
    let tokio = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    drop(tokio.block_on(store_at(&place.at))?);
    let begin = SystemTime::now() + Duration::from_millis(300);
    let begin_ns = u64::try_from(begin.duration_since(UNIX_EPOCH)?.as_nanos())?;
    let processes: Vec<Process> = (0..u64::from(CALLERS))
        .map(|number| {
            let calls = CALLS as u64;
            process(
                place,
                [number, seed, worlds, calls, begin_ns, place.turn_ms],
            )
        })
        .collect::<Outcome<_>>()?;

    // By world and time; at the same time, what is asked comes first: then fewer orders are ruled
    // out, and none wrongly.
    let mut events = BTreeMap::new();
    for (caller, mut process) in (0..).zip(processes) {
        let mut said = String::new();
        let out = process.0.stdout.as_mut().ok_or("no output")?;
        std::io::Read::read_to_string(out, &mut said)?;
        assert!(process.0.wait()?.success());
        for line in said.lines() {
            let Line {
                world,
                call,
                asked_ns,
                answer,
                answered_ns,
            } = serde_json::from_str(line)?;
            events.insert((world, asked_ns, 0, caller), Ok(call));
            events.insert((world, answered_ns, 1, caller), Err(answer));
        }
    }
    let mut histories: BTreeMap<u64, History> = BTreeMap::new();
    let (mut under_way, mut concurrent) = (0, 0);
    for ((world, _, _, caller), event) in events {
        let history = histories
            .entry(world)
            .or_insert_with(|| History::new(world));
        match event {
            Ok(call) => {
                history.asked(caller, &call)?;
                concurrent += usize::from(under_way > 0);
                under_way += 1;
            }
            Err(answer) => {
                history.answered(caller, &answer)?;
                under_way -= 1;
            }
        }
    }
    for (world, history) in &histories {
        history.check(seed + world);
    }
    println!(
        "{}: {} histories of processes, {concurrent} calls made while another was under way",
        place.name,
        histories.len()
    );
    assert_eq!(histories.len() as u64, worlds);
    assert!(
        concurrent as u64 > worlds,
        "hardly anything happened at the same time"
    );
    Ok(())
}

/// The test could fail: a read that is behind a write that was over before it is found.
#[test]
fn a_read_that_is_out_of_date_is_found() -> Outcome {
    let world = World::alone(0);
    let store = MemoryStore::new();
    let create = Call::Create {
        execution: 0,
        key: None,
        question: None,
        holder: Some(0),
        now_ms: 1000,
    };
    let look = Call::Execution { execution: 0 };
    let before = block_on(look.ask(&store, world)).text;
    let mut history = History::new(0);
    history.asked(0, &create)?;
    history.asked(1, &look)?;
    history.answered(0, &block_on(create.ask(&store, world)).text)?;
    history.answered(1, &before)?;
    assert!(history.is_explained(), "it may have come first");
    history.asked(1, &look)?;
    history.answered(1, &before)?;
    assert!(!history.is_explained());
    Ok(())
}
