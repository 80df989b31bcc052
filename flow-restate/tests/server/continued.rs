//! Runs that continue in new invocations.

use std::pin::pin;
use std::time::Duration;

use flow_runtime::Flow;
use flow_services::Restate;
use serde_json::{Value, json};

use crate::client::{
    IN_PARTS, Settings, WHOLE, Worker, attach, call, query, run, server_and_worker_with, start,
};
use crate::flows::EVENTS;
use crate::questions::{answer, asked, good, until_asked};
use crate::{until_begun, visits_of};

/// The current number of entries of the longest journal.
async fn longest(server: &Restate) -> u64 {
    let rows = query(
        server,
        "SELECT id, COUNT(*) AS entries FROM sys_journal GROUP BY id",
    )
    .await;
    let entries = rows.iter().filter_map(|row| row["entries"].as_u64());
    entries.max().unwrap_or_default()
}

/// The number of invocations of a handler.
async fn invocations(server: &Restate, handler: &str) -> usize {
    let sql = format!("SELECT id FROM sys_invocation WHERE target_handler_name = '{handler}'");
    query(server, &sql).await.len()
}

/// A loop of many steps. The variable `FLOW_RESTATE_STEPS` can raise their number, and then
/// invocations have their default length.
#[tokio::test]
async fn no_journal_of_a_long_run_is_long() {
    let (steps, entries) = match std::env::var("FLOW_RESTATE_STEPS") {
        Ok(steps) => (steps.parse().unwrap(), None),
        Err(_) => (3000, Some(8)),
    };
    let settings = Settings { entries, ..WHOLE };
    let Some((server, _worker)) = server_and_worker_with(settings).await else {
        return;
    };
    let input = json!({ "number": 0, "limit": steps });
    let invocation = start(&server, "Count", "no-long-journal", &input).await;
    let ingress = server.ingress();
    let mut ended = pin!(attach(&ingress, "Count", "no-long-journal"));
    let (mut most, mut looks) = (0, 0);
    let output = loop {
        tokio::select! {
            output = &mut ended => break output,
            entries = longest(&server) => {
                most = entries.max(most);
                looks += 1;
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    };
    assert_eq!(output, Ok(json!({ "number": steps, "end": "default" })));
    let each_once: Vec<u32> = (1..=steps).collect();
    assert_eq!(visits_of(&invocation), each_once);
    println!("a journal has {most} entries at most, seen {looks} times");
    // Two for each step, and three for each of 200 calls. One more node is under way.
    let wanted = entries.map_or(8100, |_| 640);
    assert!((20..wanted).contains(&most), "{most}");
    // Of those that are over, the server keeps only the first.
    assert_eq!(invocations(&server, "continue").await, 0);
}

/// A call contains the input, and the values of the flow before and after: 3 MB, so that the sixth
/// call exceeds 16 MiB.
#[tokio::test]
async fn a_journal_of_calls_with_much_in_them_is_short() {
    let Some((server, _worker)) = server_and_worker_with(IN_PARTS).await else {
        return;
    };
    let input = json!({ "number": 0, "limit": 25, "text": "a".repeat(1_000_000) });
    let invocation = start(&server, "Laden", "a", &input).await;
    let output = attach(&server.ingress(), "Laden", "a").await;
    assert_eq!(output, Ok(json!({ "number": 25, "end": "default" })));
    let sql = format!(
        "SELECT id FROM sys_journal WHERE id = '{invocation}' AND entry_type = 'Command: Call'"
    );
    assert_eq!(query(&server, &sql).await.len(), 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_answered_in_a_later_invocation() {
    let Some((server, mut worker)) = server_and_worker_with(IN_PARTS).await else {
        return;
    };
    start(&server, "Climb", "a", &json!({ "number": 0, "limit": 5 })).await;
    until_asked(&server, "climb.verdict").await;
    assert_eq!(invocations(&server, "continue").await, 2);
    tokio::task::block_in_place(|| worker.kill());
    worker.start_again();
    assert_eq!(asked(&server).await[0].1["prompt"], "Is 5 all right?");
    let answered = answer(&server, "Climb/a", "climb.verdict", &good()).await;
    assert_eq!(answered.0, 200, "{answered:?}");
    let output = attach(&server.ingress(), "Climb", "a").await;
    assert_eq!(output, Ok(json!({ "by": "Ann", "end": "default" })));
}

#[tokio::test]
async fn a_cancel_reaches_the_invocation_that_goes_on() {
    let Some((server, _worker)) = server_and_worker_with(IN_PARTS).await else {
        return;
    };
    let id = start(&server, "Climb", "a", &json!({ "number": 0, "limit": 5 })).await;
    until_asked(&server, "climb.verdict").await;
    let path = format!("/invocations/{id}/cancel");
    let cancelled = call(&server.admin(), "PATCH", &path, &Value::Null).await;
    assert_eq!(cancelled.unwrap().0, 202);
    let (status, said) = attach(&server.ingress(), "Climb", "a").await.unwrap_err();
    assert_eq!(status, 409, "{said}");
    assert!(said.contains("the run was cancelled"), "{said}");
    let (status, said) = answer(&server, "Climb/a", "climb.verdict", &good()).await;
    assert_eq!(status, 409, "{said}");
    assert_eq!(asked(&server).await, []);
    assert_eq!(invocations(&server, "continue").await, 0);
}

#[tokio::test]
async fn nobody_outside_goes_on_with_a_run() {
    let Some((server, _worker)) = server_and_worker_with(IN_PARTS).await else {
        return;
    };
    start(&server, "Climb", "a", &json!({ "number": 0, "limit": 1 })).await;
    until_asked(&server, "climb.verdict").await;
    for path in ["/Climb/a/continue", "/Climb/a/continue/send"] {
        let called = call(&server.ingress(), "POST", path, &json!({})).await;
        let (status, said) = called.unwrap();
        assert_eq!(status, 400, "{said}");
        assert!(said.contains("is not public"), "{said}");
    }
}

#[tokio::test]
async fn a_failure_is_the_same_in_a_later_invocation() {
    for settings in [WHOLE, IN_PARTS] {
        let Some((server, _worker)) = server_and_worker_with(settings).await else {
            return;
        };
        let failed = run(&server, "Failing", "a", &json!({ "number": 1 })).await;
        let (status, said) = failed.unwrap_err();
        assert_eq!(status, 500);
        let said: Value = serde_json::from_str(&said).unwrap();
        let wanted = "node `failing.fail` failed after 1 attempt: 2 is too much";
        assert_eq!(said["message"], wanted);
    }
}

/// Invocations of the default length.
const AS_IT_IS: Settings = Settings {
    entries: None,
    ..WHOLE
};

#[tokio::test]
async fn a_run_stays_where_it_is_if_its_values_cannot_be_sent() {
    for (settings, flow, number, output) in [
        // Two of the three texts are too large to send, and three make the journal long.
        (
            IN_PARTS,
            "Heavy",
            16_000_000,
            json!({ "length": 48_000_000, "end": "default" }),
        ),
        (
            AS_IT_IS,
            "Heavy",
            25_000_000,
            json!({ "length": 75_000_000, "end": "default" }),
        ),
    ] {
        let Some((server, _worker)) = server_and_worker_with(settings).await else {
            return;
        };
        let input = json!({ "number": number });
        assert_eq!(run(&server, flow, "a", &input).await, Ok(output));
    }
}

#[tokio::test]
async fn a_number_that_would_be_rounded_is_refused() {
    let Some((server, _worker)) = server_and_worker_with(IN_PARTS).await else {
        return;
    };
    let (_, error) = run(&server, "Wild", "a", &json!({ "number": 7 }))
        .await
        .unwrap_err();
    assert!(error.contains("has more than 64 bits"), "{error}");
}

/// With the largest number of entries, a run stays in its first invocation.
#[tokio::test]
async fn a_run_goes_on_elsewhere_after_many_bytes_unless_it_is_to_stay() {
    for (settings, elsewhere) in [(AS_IT_IS, 2), (WHOLE, 0)] {
        let Some((server, _worker)) = server_and_worker_with(settings).await else {
            return;
        };
        start(&server, "Bulky", "a", &json!({ "number": 25_000_000 })).await;
        until_asked(&server, "bulky.verdict").await;
        assert_eq!(invocations(&server, "continue").await, elsewhere);
    }
}

#[tokio::test]
async fn observers_are_told_of_each_step_once() {
    let Some((server, _worker)) = server_and_worker_with(IN_PARTS).await else {
        return;
    };
    let input = json!({ "number": 0, "limit": 2 });
    run(&server, "Watched", "a", &input).await.unwrap();
    let events = EVENTS.lock().unwrap();
    let told: Vec<_> = events
        .iter()
        .filter(|event| event.contains("watched"))
        .collect();
    let wanted = [
        "watched.add started",
        "watched.add finished: default",
        "watched.is_enough started",
        "watched.is_enough finished: no",
        "watched.add started",
        "watched.add finished: default",
        "watched.is_enough started",
        "watched.is_enough finished: yes",
        "watched ended: default",
    ];
    assert_eq!(told, wanted);
}

/// The events of failed runs, by the path of the flow.
fn failures(flow: &str) -> Vec<String> {
    let events = EVENTS.lock().unwrap();
    let begin = format!("{flow} failed: ");
    let failed = events.iter().filter(|event| event.starts_with(&begin));
    failed.cloned().collect()
}

#[tokio::test]
async fn observers_are_told_once_of_a_run_that_fails_outside_of_its_flow() {
    let Some((server, _worker)) = server_and_worker_with(IN_PARTS).await else {
        return;
    };
    let input = json!({ "number": 31_000_000 });
    let (status, _) = run(&server, "Doomed", "a", &input).await.unwrap_err();
    assert_eq!(status, 500);
    let told = failures("doomed");
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].contains("the outcome of `doomed.repeat` has"),
        "{told:?}"
    );

    let id = start(&server, "Halted", "a", &json!({ "number": 1 })).await;
    until_asked(&server, "halted.verdict").await;
    let path = format!("/invocations/{id}/cancel");
    let cancelled = call(&server.admin(), "PATCH", &path, &Value::Null).await;
    assert_eq!(cancelled.unwrap().0, 202);
    let (status, _) = attach(&server.ingress(), "Halted", "a").await.unwrap_err();
    assert_eq!(status, 409);
    let told = failures("halted");
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("the run was cancelled"), "{told:?}");
}

#[tokio::test]
async fn a_kill_reaches_the_invocation_that_goes_on() {
    let Some((server, _worker)) = server_and_worker_with(IN_PARTS).await else {
        return;
    };
    let input = json!({ "number": 0, "limit": 100_000 });
    let invocation = start(&server, "SlowCount", "killed", &input).await;
    until_begun(&invocation, 5).await;
    let path = format!("/invocations/{invocation}/kill");
    let killed = call(&server.admin(), "PATCH", &path, &Value::Null).await;
    assert!(matches!(killed, Some((200 | 202, _))), "{killed:?}");
    let failed = attach(&server.ingress(), "SlowCount", "killed").await;
    assert!(failed.is_err(), "{failed:?}");
    for _ in 0..2000 {
        if invocations(&server, "continue").await == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("an invocation goes on with a run that was killed");
}

/// Another deployment may allow more steps, and continues the runs of the previous one.
#[tokio::test]
async fn a_run_keeps_the_budget_with_which_it_began() {
    let settings = Settings {
        steps: 200,
        ..IN_PARTS
    };
    let Some((server, _worker)) = server_and_worker_with(settings).await else {
        return;
    };
    let input = json!({ "number": 0, "limit": 150 });
    let invocation = start(&server, "SlowCount", "budget", &input).await;
    until_begun(&invocation, 10).await;
    let worker = Worker::start(IN_PARTS);
    worker.register(&server).await;
    let begun = visits_of(&invocation).len();
    assert!(begun < 90, "the run is at its end already");
    let failed = attach(&server.ingress(), "SlowCount", "budget").await;
    let (status, said) = failed.unwrap_err();
    assert_eq!(status, 500);
    assert!(said.contains("used up its 200 steps"), "{said}");
}

/// Later versions of flows: one with another structure, one with a value of another type.
mod next {
    use flow_restate::Endpoint;
    use flow_runtime::prelude::*;
    use serde::{Deserialize, Serialize};

    use crate::client::Settings;

    #[node(writes = number)]
    fn add_ten(number: u64) -> u64 {
        number + 10
    }

    flow! {
        pub(crate) SlowCount(number: u64, limit: u64) -> (number: u64) {
            branch is_enough(number, limit) { number >= limit => "yes", else => "no" }
            start >> add_ten >> is_enough;
            is_enough - "no" >> add_ten;
            is_enough - "yes" >> end;
        }
    }

    #[derive(Debug, Clone, Serialize, Deserialize)]
    pub(crate) struct Tally {
        total: u64,
    }

    impl Tally {
        fn has(&self, limit: u64) -> bool {
            self.total >= limit
        }
    }

    #[node(writes = tally)]
    async fn tally_slowly(cx: &Context, tally: Tally) -> Tally {
        let _ = cx.step_id();
        Tally {
            total: tally.total + 10,
        }
    }

    flow! {
        /// A loop with a value of a type that may change.
        pub(crate) SlowTally(tally: Tally, limit: u64) -> (tally: Tally) {
            branch is_enough(tally, limit) { tally.has(*limit) => "yes", else => "no" }
            start >> tally_slowly >> is_enough;
            is_enough - "no" >> tally_slowly;
            is_enough - "yes" >> end;
        }
    }

    pub(super) fn endpoint(settings: Settings) -> Endpoint {
        Endpoint::new()
            .flow(SlowCount::new())
            .flow(SlowTally::new())
            .step_budget(settings.steps)
    }
}

/// A flow that gets a newer version during a run.
struct Changed {
    flow: &'static str,
    older: Value,
    newer: Value,
    outputs: [Value; 2],
    /// The reason in the journal.
    reason: &'static str,
}

async fn change(changed: Changed) {
    let Changed {
        flow, older, newer, ..
    } = changed;
    let settings = Settings {
        entries: Some(3),
        ..WHOLE
    };
    let Some((server, _worker)) = server_and_worker_with(settings).await else {
        return;
    };
    let invocation = start(&server, flow, "older", &older).await;
    until_begun(&invocation, 10).await;
    let worker = Worker::of(next::endpoint, WHOLE);
    worker.register(&server).await;
    let begun = visits_of(&invocation).len();
    assert!(begun < 90, "the run is at its end already");
    let output = run(&server, flow, "newer", &newer).await;
    assert_eq!(output.as_ref(), Ok(&changed.outputs[1]));
    let output = attach(&server.ingress(), flow, "older").await;
    assert_eq!(output.as_ref(), Ok(&changed.outputs[0]));
    let each_once: Vec<u32> = (1..=101).collect();
    assert_eq!(visits_of(&invocation), each_once);
    let sql = format!(
        "SELECT name FROM sys_journal WHERE id = '{invocation}' AND name LIKE 'goes on here: %'"
    );
    let rows = query(&server, &sql).await;
    assert!(!rows.is_empty());
    for row in rows {
        let name = row["name"].as_str().unwrap();
        assert!(name.contains(changed.reason), "{name}");
    }
}

#[tokio::test]
async fn a_run_ends_with_the_version_with_which_it_began() {
    let input = json!({ "number": 0, "limit": 101 });
    let outputs = [101, 110].map(|number| json!({ "number": number, "end": "default" }));
    change(Changed {
        flow: "SlowCount",
        older: input.clone(),
        newer: input,
        outputs,
        reason: "the newest deployment has another structure of the flow",
    })
    .await;
}

#[tokio::test]
async fn a_run_ends_with_the_types_with_which_it_began() {
    assert_eq!(
        <next::SlowTally as Flow>::SPEC,
        <crate::flows::SlowTally as Flow>::SPEC
    );
    let of = |name: &str, number: u32| json!({ name: number });
    change(Changed {
        flow: "SlowTally",
        older: json!({ "tally": of("count", 0), "limit": 101 }),
        newer: json!({ "tally": of("total", 0), "limit": 101 }),
        outputs: [of("count", 101), of("total", 110)]
            .map(|tally| json!({ "tally": tally, "end": "default" })),
        reason: "missing field `total`",
    })
    .await;
}
