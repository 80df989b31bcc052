//! Who begins a step with an effect: a process that stays, and nobody else.

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::{Folder, built};

static COUNTING: LazyLock<PathBuf> = LazyLock::new(|| built("counting"));

impl Folder {
    /// The effects there have been.
    fn effects(&self) -> Vec<String> {
        let effects = fs::read_to_string(self.place.path().join("effects"));
        let effects = effects.unwrap_or_default();
        effects.lines().map(str::to_owned).collect()
    }

    /// The status of an execution, and how many records it has.
    fn status(&self, id: &str) -> (String, u64) {
        let shown = self.call(&["show", "--json", id]).json();
        let status = shown["status"].as_str().unwrap().to_owned();
        (status, shown["records"].as_u64().unwrap())
    }

    /// Starts an execution without waiting for it, and returns its id.
    fn detached(&self, arguments: &[&str]) -> String {
        let started = self.call(&[&["start", "--detach"], arguments].concat());
        started.fine();
        started.error.trim().to_owned()
    }

    /// Lets a worker run until these executions are over.
    fn work_until_over(&self, ids: &[&str]) {
        let mut work = self.command(&["worker"]).spawn().unwrap();
        let follow = |id: &&str| self.call(&["events", id, "--follow"]);
        let followed: Vec<_> = ids.iter().map(follow).collect();
        work.kill().unwrap();
        work.wait().unwrap();
        for events in followed {
            assert!(events.fine().contains("run_completed"), "{}", events.output);
        }
    }
}

#[test]
fn what_is_started_detached_is_run_once() {
    let folder = Folder::of(&COUNTING);
    let id = folder.detached(&["Effect", "name=a"]);
    assert_eq!(folder.status(&id), ("queued".to_owned(), 1));
    assert_eq!(folder.effects(), [""; 0]);
    folder.work_until_over(&[&id]);
    assert_eq!(folder.effects(), ["a"]);
}

/// Several, since a process that goes on with an execution does not always come far before it ends.
#[test]
fn what_is_answered_is_run_once() {
    let folder = Folder::of(&COUNTING);
    let names = ["a", "b", "c", "d", "e", "f"];
    let answered = names.map(|name| {
        let input = format!("name={name}");
        let started = folder.call(&["start", "Asking", &input]).json();
        let id = started["execution"].as_str().unwrap().to_owned();
        let before = folder.status(&id);
        folder.call(&["answer", &id, "Granted"]).fine();
        assert_eq!(folder.status(&id), before, "nobody has gone on with it");
        id
    });
    assert_eq!(folder.effects(), [""; 0]);
    folder.work_until_over(&answered.each_ref().map(String::as_str));
    let mut effects = folder.effects();
    effects.sort();
    assert_eq!(effects, names);
}

/// `start` ends as with a question, and `signal` leaves the step to others.
#[test]
fn what_is_signalled_is_run_once() {
    let folder = Folder::of(&COUNTING);
    let started = folder.call(&["start", "Waiting"]);
    assert_eq!(started.json()["status"], "paused");
    let id = started.json()["execution"].as_str().unwrap().to_owned();
    let told = format!("it waits for a signal: `signal {id} Sign BODY`");
    assert!(started.error.contains(&told), "{}", started.error);
    let shown = folder.call(&["show", &id]);
    let waits = "\nwaiting.sign waits for the signal `Sign`\n";
    assert!(shown.fine().contains(waits), "{}", shown.output);

    let wrong = folder.call(&["signal", &id, "Sign", "a"]);
    assert!(
        wrong.refused().contains("expected a `Sign`"),
        "{}",
        wrong.error
    );
    let signal = [
        "signal",
        &id,
        "Sign",
        r#"{"name": "a"}"#,
        "--idempotency-key",
        "k",
    ];
    for _ in 0..2 {
        let sent = folder.call(&signal);
        assert!(
            sent.fine().starts_with(&format!("{id} has the signal")),
            "{}",
            sent.output
        );
    }
    assert_eq!(folder.status(&id).0, "paused", "nobody has gone on with it");
    let shown = folder.call(&["show", &id, "--json"]).json();
    assert_eq!(shown["signals"].as_array().unwrap().len(), 1, "{shown}");
    assert_eq!(folder.effects(), [""; 0]);
    folder.work_until_over(&[&id]);
    assert_eq!(folder.effects(), ["a"]);
}

#[test]
fn a_copy_is_run_once() {
    let folder = Folder::of(&COUNTING);
    let started = folder.call(&["start", "Effect", "name=a"]).json();
    let id = started["execution"].as_str().unwrap();
    for (number, arguments) in [&["copy", id, "0"][..], &["copy", id, "0", "name=b"]]
        .into_iter()
        .enumerate()
    {
        let copied = folder.call(arguments);
        let copy = copied.fine().split(' ').next().unwrap();
        assert_eq!(folder.effects().len(), number + 1);
        folder.work_until_over(&[copy]);
        assert_eq!(folder.effects().len(), number + 2);
    }
    assert_eq!(folder.effects(), ["a", "a", "b"]);
}

#[test]
fn a_server_that_may_not_serve_begins_nothing() {
    let folder = Folder::of(&COUNTING);
    let id = folder.detached(&["Effect", "name=a"]);
    let refused = folder.call(&["serve", "--listen", "0.0.0.0:0"]);
    assert!(
        refused.refused().contains("has no authentication"),
        "{}",
        refused.error
    );
    assert_eq!(refused.output, "", "no address at which nobody listens");
    assert_eq!(folder.status(&id), ("queued".to_owned(), 1));
    assert_eq!(folder.effects(), [""; 0]);
}

#[test]
fn a_start_says_when_the_execution_may_begin() {
    let folder = Folder::of(&COUNTING);
    let id = folder.detached(&[
        "--priority",
        "-5",
        "--not-before",
        "2100-01-01T00:00:00Z",
        "--concurrency-key",
        "a=b=2",
        "Effect",
        "name=a",
    ]);
    let shown = folder.call(&["show", "--json", &id]).json();
    assert_eq!(shown["priority"], -5);
    assert_eq!(shown["notBeforeMs"], 4_102_444_800_000_u64);
    assert_eq!(shown["concurrencyKey"], "a=b");
    assert_eq!(shown["concurrencyAtMost"], 2);
    // One that is started later, and may begin now, passes it.
    let other = folder.detached(&["--priority", "-6", "Effect", "name=b"]);
    folder.work_until_over(&[&other]);
    assert_eq!(folder.effects(), ["b"]);

    for (arguments, words) in [
        (&["--concurrency-key", "a"][..], "`customer 7=2`"),
        (&["--concurrency-key", "a=0"], "`customer 7=2`"),
        (&["--not-before", "soon"], "`2026-12-24T18:00:00Z`"),
    ] {
        let all = [&["start", "--detach", "Effect", "name=a"], arguments].concat();
        let refused = folder.call(&all);
        assert!(refused.refused().contains(words), "{}", refused.error);
    }
    let here = folder.call(&["start", "--priority", "1", "Effect", "name=a"]);
    assert!(here.refused().contains("--detach"), "{}", here.error);
}

/// Also not by the parser of the command line, which prints what it refuses.
#[test]
fn the_password_of_an_address_is_not_printed() {
    let folder = Folder::of(&COUNTING);
    for (address, words) in [
        (
            "mysql://me:secret@host/flows",
            "`mysql://me@host/flows` is not a store",
        ),
        ("me:secret@host/flows", "`me…` is not a store"),
        (
            "POSTGRES://me:secret@127.0.0.1:1/flows?connect_timeout=1&password=a@secret",
            "postgres://me@127.0.0.1:1/flows?connect_timeout=1: the store failed: the database cannot be reached",
        ),
    ] {
        for command in [&["list"][..], &["start", "Effect", "name=a"], &["worker"]] {
            let called = folder.call(&[command, &["--store", address]].concat());
            let error = called.refused();
            assert!(error.contains(words), "{error}");
            assert!(!error.contains("secret"), "{error}");
        }
    }
}

#[test]
fn each_tick_is_run_once_by_whichever_worker() {
    let folder = Folder::of(&COUNTING);
    let worker = || {
        folder
            .command(&["worker"])
            .env("TICKS", "1")
            .spawn()
            .unwrap()
    };
    let mut workers = [worker(), worker(), worker()];
    let began = Instant::now();
    while folder.effects().len() < 4 {
        assert!(
            began.elapsed() < Duration::from_secs(60),
            "{:?}",
            folder.effects()
        );
        sleep(Duration::from_millis(50));
    }
    for worker in &mut workers {
        worker.kill().unwrap();
        worker.wait().unwrap();
    }
    let mut ticks = folder.effects();
    let count = ticks.len();
    ticks.sort();
    ticks.dedup();
    assert_eq!(ticks.len(), count, "{ticks:?}");
}

#[test]
fn schedules_are_listed() {
    let folder = Folder::of(&COUNTING);
    assert_eq!(folder.call(&["schedules"]).fine(), "");
    let list = |more: &[&str]| {
        let listed = folder
            .command(&[&["schedules"], more].concat())
            .env("TICKS", "1")
            .output();
        String::from_utf8(listed.unwrap().stdout).unwrap()
    };
    let text = list(&[]);
    assert!(
        text.starts_with("ticks: Effect at `* * * * * *`, next 20"),
        "{text}"
    );
    let json: serde_json::Value = serde_json::from_str(&list(&["--json"])).unwrap();
    assert_eq!(json[0]["expression"], "* * * * * *");
}
