//! Histories of threads and of processes, each with its own connections to one file, whose clocks
//! do not agree.
//!
//! A history that no order of its calls explains is printed with its seed. The order in which the
//! calls come is not made from the seed, so a failure may take several runs: `HISTORIES=20000
//! SEED=7 cargo test -p flow-histories linear`.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Barrier, Mutex};
use std::task::{Context, Poll, Waker};
use std::thread::scope;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use flow_histories::{Call, Caller, Line, World};
use flow_sqlite::{Durability, SqliteOptions, SqliteStore};
use flow_store::{MemoryStore, Store};
use futures_executor::block_on;
use stateright::semantics::{ConsistencyTester as _, LinearizabilityTester};

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

/// Asks a store at random. What is given up goes on without its caller, who then is another one.
fn ask(
    store: &dyn Store,
    history: &Mutex<History>,
    number: u8,
    world: World,
    seed: u64,
) -> Outcome {
    let lock = || history.lock().map_err(|_| "a thread panicked");
    let mut caller = Caller::new(number, seed);
    let mut name = u16::from(number);
    for _ in 0..CALLS {
        let call = caller.next_call();
        let gives_up = caller.gives_up();
        lock()?.asked(name, &call)?;
        let mut asking = Box::pin(call.ask(store, world));
        let mut cx = Context::from_waker(Waker::noop());
        let answer = match asking.as_mut().poll(&mut cx) {
            Poll::Ready(answer) => answer,
            // It has been asked. Nobody knows whether it is done.
            Poll::Pending if gives_up => {
                name += 100;
                continue;
            }
            Poll::Pending => block_on(asking),
        };
        lock()?.answered(name, &answer.text)?;
        caller.learn(&call, &answer);
    }
    Ok(())
}

fn options() -> SqliteOptions {
    SqliteOptions::new().durability(Durability::Normal)
}

/// Each thread has connections of its own to the file, or they share them: then several writes are put together.
#[test]
fn what_threads_see_of_one_file_is_what_one_after_the_other_could_see() -> Outcome {
    let histories = number("HISTORIES", 1500)?;
    let first = number("SEED", fastrand::u64(..1 << 40))?;
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("histories.db");
    let all: Vec<Mutex<History>> = (0..histories)
        .map(|number| Mutex::new(History::new(number)))
        .collect();
    let shared = block_on(SqliteStore::open_with(&file, options()))?;
    let together = Barrier::new(usize::from(CALLERS));
    scope(|threads| -> Outcome {
        let work = |caller: u8| -> Outcome {
            let own = block_on(SqliteStore::open_with(&file, options()));
            let mut outcome = own.as_ref().map(drop).map_err(ToString::to_string);
            for (history, number) in all.iter().zip(0..) {
                let after = block_on(shared.last_offset());
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
                outcome = ask(store, history, caller, world, first + number)
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
    println!("{histories} histories, {concurrent} calls made while another was under way");
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

fn process(file: &Path, arguments: [u64; 5]) -> Outcome<Process> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_flow-histories"));
    command
        .arg(file)
        .args(arguments.map(|argument| argument.to_string()));
    Ok(Process(command.stdout(Stdio::piped()).spawn()?))
}

#[test]
fn what_processes_see_of_one_file_is_what_one_after_the_other_could_see() -> Outcome {
    let worlds = number("WORLDS", 200)?;
    let seed = number("SEED", fastrand::u64(..1 << 40))?;
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("histories.db");
    // The tables are there before anybody begins.
    drop(block_on(SqliteStore::open(&file))?);
    let begin = SystemTime::now() + Duration::from_millis(300);
    let begin_ns = u64::try_from(begin.duration_since(UNIX_EPOCH)?.as_nanos())?;
    let processes: Vec<Process> = (0..u64::from(CALLERS))
        .map(|number| process(&file, [number, seed, worlds, CALLS as u64, begin_ns]))
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
        "{} histories of processes, {concurrent} calls made while another was under way",
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
