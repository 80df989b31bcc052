//! Flows on a real Restate server.

mod client;
mod flows;
mod questions;
mod wide;

use std::time::Duration;

use fastrand::Rng;
use flow_runtime::engine::{AnyFlow, Direct, Saved};
use flow_services::Restate;
use serde_json::{Value, json};

use client::{attach, call, query, run, server_and_worker, server_and_worker_of, start};
use flows::*;
use wide::Wide;

/// What a plain run gives.
async fn plainly(flow: &dyn AnyFlow<Direct>, input: &Value) -> Value {
    let input = Saved::from_json(input.clone()).unwrap();
    flow.run(&Direct::new(), input).await.unwrap().into_json()
}

#[tokio::test]
async fn gives_the_output_of_a_plain_run() {
    let Some((server, _worker)) = server_and_worker().await else {
        return;
    };
    let flows: [(&dyn AnyFlow<Direct>, Value); 9] = [
        (&Chain::new(), json!({ "number": 3 })),
        (&Count::new(), json!({ "number": 0, "limit": 100 })),
        (&Batch::new(), json!({ "count": 200 })),
        (&Retried::new(), json!({ "number": 1 })),
        (&Excused::new(), json!({ "number": 1 })),
        (&Waiting::new(), json!({ "number": 4 })),
        (&Outer::new(), json!({ "number": 1, "limit": 20 })),
        (&Impatient::new(), json!({ "number": 1 })),
        (&Wide::new(), json!({ "number": 12 })),
    ];
    for (flow, input) in flows {
        let output = run(&server, flow.name(), "same", &input).await;
        assert_eq!(output, Ok(plainly(flow, &input).await), "{}", flow.name());
    }
}

#[tokio::test]
async fn runs_ten_thousand_steps() {
    let Some((server, _worker)) = server_and_worker().await else {
        return;
    };
    let input = json!({ "number": 0, "limit": 10_000 });
    let output = run(&server, "Count", "long", &input).await;
    assert_eq!(output, Ok(json!({ "number": 10_000, "end": "default" })));
}

#[tokio::test]
async fn fails_for_good_as_the_flow_fails() {
    let Some((server, _worker)) = server_and_worker().await else {
        return;
    };
    let failed = run(&server, "Failing", "a", &json!({ "number": 1 })).await;
    let (status, said) = failed.unwrap_err();
    assert_eq!(status, 500);
    assert!(said.contains("2 is too much"), "{said}");
}

#[tokio::test]
async fn cuts_the_text_of_a_failure() {
    let Some((server, _worker)) = server_and_worker().await else {
        return;
    };
    let input = json!({ "number": 2_000_000 });
    let (status, said) = run(&server, "Loud", "a", &input).await.unwrap_err();
    assert_eq!(status, 500);
    assert!(
        (1_000_000..1_001_000).contains(&said.len()),
        "{}",
        said.len()
    );
}

#[tokio::test]
async fn fails_when_its_steps_are_used_up() {
    let Some((server, _worker)) = server_and_worker_of(20).await else {
        return;
    };
    let input = json!({ "number": 0, "limit": 30 });
    let (status, said) = run(&server, "Count", "endless", &input).await.unwrap_err();
    assert_eq!(status, 500);
    assert!(said.contains("used up its 20 steps"), "{said}");
}

#[tokio::test]
async fn tells_observers_what_happens_once() {
    let Some((server, _worker)) = server_and_worker().await else {
        return;
    };
    let input = json!({ "number": 1 });
    run(&server, "Told", "a", &input).await.unwrap();
    let events = EVENTS.lock().unwrap();
    let told: Vec<_> = events
        .iter()
        .filter(|event| event.contains("told"))
        .collect();
    let wanted = [
        "told.add started",
        "told.add finished: default",
        "told ended: default",
    ];
    assert_eq!(told, wanted);
}

#[tokio::test]
async fn refuses_an_input_that_does_not_fit() {
    let Some((server, _worker)) = server_and_worker().await else {
        return;
    };
    for (key, input, reason) in [
        ("a", json!([1]), "it is not a JSON object"),
        ("b", json!({ "number": "one" }), "number"),
        ("c", json!({ "number": 1, "nmber": 2 }), "nmber"),
    ] {
        let (status, said) = run(&server, "Chain", key, &input).await.unwrap_err();
        assert_eq!(status, 400, "{said}");
        assert!(said.contains(reason), "{said}");
    }
}

/// The steps of an invocation that began, in order: which visit to the only step of its loop.
fn visits_of(invocation: &str) -> Vec<u32> {
    let began = BEGAN.lock().unwrap();
    began
        .iter()
        .filter(|step| step.starts_with(invocation))
        .map(|step| match step.rsplit_once('#') {
            Some((_, visit)) => visit.parse().unwrap(),
            None => 1,
        })
        .collect()
}

#[tokio::test]
async fn a_later_run_with_the_same_key_is_another_one() {
    let Some((server, _worker)) = server_and_worker().await else {
        return;
    };
    let input = json!({ "number": 1 });
    let mut invocations = Vec::new();
    for _ in 0..2 {
        let invocation = start(&server, "Chain", "again", &input).await;
        attach(&server.ingress(), "Chain", "again").await.unwrap();
        let path = format!("/invocations/{invocation}/purge");
        let purged = call(&server.admin(), "PATCH", &path, &Value::Null).await;
        assert_eq!(purged.unwrap().0, 200);
        invocations.push(invocation);
    }
    assert_eq!(invocations[0], invocations[1]);
    let began = BEGAN.lock().unwrap();
    let steps: Vec<_> = began
        .iter()
        .filter(|step| step.starts_with(&invocations[0]))
        .collect();
    assert_eq!(steps.len(), 4, "{steps:?}");
    assert_ne!(steps[0], steps[2]);
}

/// How often something is killed, waiting at random in between: more often if the variable
/// `FLOW_RESTATE_KILLS` says so.
fn kills() -> u32 {
    let kills = std::env::var("FLOW_RESTATE_KILLS");
    kills.map_or(5, |kills| kills.parse().unwrap())
}

/// The waits between the kills: those of an earlier test if the variable `FLOW_RESTATE_SEED` has its
/// seed.
fn waits() -> Rng {
    let seed = std::env::var("FLOW_RESTATE_SEED");
    let seed = seed.map_or_else(|_| fastrand::u64(..), |seed| seed.parse().unwrap());
    println!("FLOW_RESTATE_SEED={seed}");
    Rng::with_seed(seed)
}

/// How many runs of a flow are not at their end. A kill while there are none would show nothing.
async fn under_way(server: &Restate, flow: &str) -> usize {
    let unfinished = format!(
        "SELECT id FROM sys_invocation WHERE target_service_name = '{flow}' AND status <> 'completed'"
    );
    query(server, &unfinished).await.len()
}

#[tokio::test(flavor = "multi_thread")]
async fn goes_on_after_its_worker_is_killed() {
    let Some((server, mut worker)) = server_and_worker().await else {
        return;
    };
    let limit = 60 * kills();
    let input = json!({ "number": 0, "limit": limit });
    let invocation = start(&server, "SlowCount", "a", &input).await;
    let mut waits = waits();
    for round in 0..kills() {
        start(
            &server,
            "Batch",
            &format!("b{round}"),
            &json!({ "count": 100 }),
        )
        .await;
        tokio::time::sleep(Duration::from_millis(waits.u64(20..600))).await;
        assert_eq!(under_way(&server, "SlowCount").await, 1, "kill {round}");
        tokio::task::block_in_place(|| worker.kill());
        worker.start_again();
    }
    let output = attach(&server.ingress(), "SlowCount", "a").await;
    assert_eq!(output, Ok(json!({ "number": limit, "end": "default" })));
    let wanted = plainly(&Batch::new(), &json!({ "count": 100 })).await;
    for round in 0..kills() {
        let output = attach(&server.ingress(), "Batch", &format!("b{round}")).await;
        assert_eq!(output.as_ref(), Ok(&wanted));
    }
    // A step begins only when the outcome of the one before has been delivered.
    let visits = visits_of(&invocation);
    assert!(
        visits.is_sorted(),
        "a step whose outcome was delivered ran again: {visits:?}"
    );
    assert_eq!(visits.last(), Some(&limit));
    let again = visits.len() - usize::try_from(limit).unwrap();
    println!(
        "{again} of {limit} steps ran again, after {} kills",
        kills()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_no_finished_step_again_after_the_server_is_killed() {
    let Some((mut server, _worker)) = server_and_worker().await else {
        return;
    };
    // Many at once, so that each time something is on its way.
    let limit = 150 * kills();
    let input = json!({ "number": 0, "limit": limit });
    let mut runs = Vec::new();
    for number in 0..16 {
        let key = format!("killed{number}");
        let invocation = start(&server, "Count", &key, &input).await;
        runs.push((key, invocation));
    }
    let begun = || -> usize { runs.iter().map(|(_, id)| visits_of(id).len()).sum() };
    let mut waits = waits();
    for round in 0..kills().div_ceil(2) {
        // The server takes a moment until it goes on with its runs.
        let before = begun();
        while begun() == before {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        tokio::time::sleep(Duration::from_millis(waits.u64(50..400))).await;
        assert_eq!(under_way(&server, "Count").await, 16, "kill {round}");
        tokio::task::block_in_place(|| {
            server.kill();
            server.start_again();
        });
    }
    let each_once: Vec<u32> = (1..=limit).collect();
    for (key, invocation) in runs {
        let output = attach(&server.ingress(), "Count", &key).await;
        assert_eq!(output, Ok(json!({ "number": limit, "end": "default" })));
        assert_eq!(visits_of(&invocation), each_once);
    }
}
