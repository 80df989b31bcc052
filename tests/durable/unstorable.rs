//! Values that JSON does not keep, wherever a flow can have one: the run stops there and stores
//! nothing of it, whether the flow was compiled or loaded.

use std::collections::BTreeMap;

use flow_durable::{DurableFlow, RuntimeError, StartOptions, Status};
use flow_runtime::prelude::*;
use serde_json::{Value, json};

use crate::support::{outcomes, runtime, seen, store};

/// Of two zeros it is not a number, and JSON has no word for that.
fn ratio(one: f64, other: f64) -> f64 {
    one / other
}

#[node(writes = part)]
fn divide(number: &f64) -> f64 {
    ratio(*number, *number)
}

#[node]
fn sum(parts: &[f64]) -> f64 {
    parts.iter().sum()
}

flow! {
    Parts(numbers: Vec<f64>) -> (sum: f64) {
        node parts: for number in numbers { divide } with concurrency(2);
        start >> parts >> sum >> end;
    }
}

flow! {
    Collected(numbers: Vec<f64>) -> (parts: Vec<Result<f64, NodeError>>) {
        node parts: for number in numbers { divide_late } with collect_errors;
        start >> parts >> end;
    }
}

#[node(retry(attempts = 3, wait = "2s"), writes = part)]
async fn divide_late(number: &f64, cx: &Context) -> Result<f64, String> {
    match cx.attempt() {
        0 => Err("too early".to_owned()),
        _ => Ok(ratio(*number, *number)),
    }
}

flow! {
    Late(number: f64) -> (part: Option<f64>) {
        start >> divide_late >> end;
        divide_late - "error" >> end("failed");
    }
}

flow! {
    Division(number: f64) -> (part: f64) {
        start >> divide >> end;
    }
}

flow! {
    Divided(number: f64, other: f64) -> (part: f64, half: f64) {
        node second: Division { number <- other, part -> half } with retry(attempts = 2);
        start >> [Division, second] >> end;
    }
}

#[node]
fn pairs(number: &f64) -> BTreeMap<(u8, u8), bool> {
    if *number > 0.0 {
        BTreeMap::from([((1, 2), true)])
    } else {
        BTreeMap::new()
    }
}

flow! {
    Pairs(number: f64) -> (pairs: BTreeMap<(u8, u8), bool>) {
        start >> pairs >> end;
    }
}

#[node]
fn doubled(small: &f32) -> f32 {
    small * 2.0
}

flow! {
    Small(small: f32) -> (doubled: f32) {
        start >> doubled >> end;
    }
}

/// The path and the reason of the value that cannot be stored, and how many outcomes are stored.
async fn refused<F: DurableFlow>(flow: F, input: Value) -> (String, String, usize) {
    let runtime = runtime(store(), flow);
    let started = runtime
        .executions()
        .start_json(F::NAME, input, StartOptions::new())
        .await;
    let started = started.unwrap();
    let error = started.settled().await.unwrap_err();
    let RuntimeError::Unstorable { path, reason, .. } = error else {
        panic!("{error}")
    };
    let (status, journal, _) = seen(&runtime, started.id()).await;
    assert_eq!(status, Status::Running);
    (path, reason, outcomes(&journal).len())
}

#[tokio::test(start_paused = true)]
async fn a_run_stops_at_the_value_that_json_does_not_keep() {
    let not_a_number = "`f64` does not survive as JSON: JSON has no number NaN";
    let at = |path: &str, stored: usize| (path.to_owned(), not_a_number.to_owned(), stored);
    let numbers = json!({ "numbers": [1.0, 0.0, 2.0] });
    // The items before and beside it are stored.
    assert_eq!(
        refused(Parts::new(), numbers.clone()).await,
        at("parts.parts[1]", 2)
    );
    assert_eq!(
        refused(Collected::new(), numbers).await,
        at("collected.parts[1]", 1)
    );
    assert_eq!(
        refused(Late::new(), json!({ "number": 0.0 })).await,
        at("late.divide_late", 0)
    );
    assert_eq!(
        refused(Divided::new(), json!({ "number": 1.0, "other": 0.0 })).await,
        at("divided.second.divide", 1)
    );
    let (path, reason, _) = refused(Pairs::new(), json!({ "number": 1.0 })).await;
    assert_eq!(path, "pairs.pairs");
    assert_eq!(
        reason,
        "`BTreeMap<(u8, u8), bool>` does not survive as JSON: key must be a string"
    );
}

/// 1e300 is an infinite `f32`.
#[tokio::test(start_paused = true)]
async fn an_input_that_json_does_not_keep_starts_nothing() {
    let runtime = runtime(store(), Small::new());
    let start = |small: f64| {
        let input = json!({ "small": small });
        runtime
            .executions()
            .start_json("Small", input, StartOptions::new())
    };
    let error = start(1e300).await.unwrap_err().to_string();
    assert_eq!(
        error,
        "`small`: the value cannot be stored: input `small`: JSON has no number inf"
    );
    assert!(
        runtime
            .executions()
            .list(Default::default())
            .await
            .unwrap()
            .is_empty()
    );
    start(1.5).await.unwrap();
}

flow_law::law! {
    nodes: [divide, sum, divide_late, pairs, doubled],
    flows: [
        Parts { inputs: [json!({ "numbers": [1.0, 0.0, 2.0] })] },
        Collected { inputs: [json!({ "numbers": [1.0, 0.0, 2.0] })] },
        Late { inputs: [json!({ "number": 0.0 }), json!({ "number": 1.0 })] },
        Division { inputs: [json!({ "number": 0.0 })] },
        Divided {
            inputs: [json!({ "number": 1.0, "other": 0.0 }), json!({ "number": 0.0, "other": 1.0 })]
        },
        Pairs { inputs: [json!({ "number": 1.0 }), json!({ "number": 0.0 })] },
        Small { inputs: [json!({ "small": 1e300 }), json!({ "small": 1.5 })] },
    ],
}
