//! Flows on a real Restate server.

mod client;
mod continued;
mod flows;
#[cfg(feature = "identity")]
mod identity;
mod kills;
mod loaded;
mod questions;
mod wide;

use std::time::Duration;

use flow_runtime::engine::{AnyFlow, Direct, Saved};
use serde_json::{Value, json};

use client::{
    IN_PARTS, Settings, WHOLE, attach, call, run, server_and_worker, server_and_worker_with, start,
};
use flows::*;
use wide::Wide;

/// The result of a plain run.
async fn plainly(flow: &dyn AnyFlow<Direct>, input: &Value) -> Value {
    let input = Saved::from_json(input.clone()).unwrap();
    flow.run(&Direct::new(), input).await.unwrap().into_json()
}

/// Runs flows with these settings, without a server.
async fn compare_with_plain_runs(settings: Settings) {
    let Some((server, _worker)) = server_and_worker_with(settings).await else {
        return;
    };
    let flows: [(&dyn AnyFlow<Direct>, Value); 10] = [
        (&Chain::new(), json!({ "number": 3 })),
        (&Count::new(), json!({ "number": 0, "limit": 100 })),
        (&Batch::new(), json!({ "count": 200 })),
        (&Retried::new(), json!({ "number": 1 })),
        (&Excused::new(), json!({ "number": 1 })),
        (&Waiting::new(), json!({ "number": 4 })),
        (&Outer::new(), json!({ "number": 1, "limit": 20 })),
        (&Impatient::new(), json!({ "number": 1 })),
        (&Wide::new(), json!({ "number": 12 })),
        (&Racing::new(), json!({ "number": 5 })),
    ];
    for (flow, input) in flows {
        let output = run(&server, flow.name(), "same", &input).await;
        assert_eq!(output, Ok(plainly(flow, &input).await), "{}", flow.name());
    }
}

#[tokio::test]
async fn gives_the_output_of_a_plain_run() {
    compare_with_plain_runs(WHOLE).await;
}

#[tokio::test]
async fn gives_the_output_of_a_plain_run_in_parts() {
    for entries in [0, 5] {
        let entries = Some(entries);
        compare_with_plain_runs(Settings { entries, ..WHOLE }).await;
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
    for settings in [WHOLE, IN_PARTS] {
        let settings = Settings {
            steps: 20,
            ..settings
        };
        let Some((server, _worker)) = server_and_worker_with(settings).await else {
            return;
        };
        let input = json!({ "number": 0, "limit": 30 });
        let (status, said) = run(&server, "Count", "endless", &input).await.unwrap_err();
        assert_eq!(status, 500);
        assert!(said.contains("used up its 20 steps"), "{said}");
    }
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

/// The begun steps of an invocation, in order, as visits to the only step of its loop.
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

/// Waits until an invocation has begun this many steps.
async fn until_begun(invocation: &str, steps: usize) {
    for _ in 0..2000 {
        if visits_of(invocation).len() >= steps {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{invocation} does not begin {steps} steps");
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
