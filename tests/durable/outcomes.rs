//! Executions that arrive at each end of a flow, with the outputs that are there.

use flow_durable::{StartOptions, Status};
use flow_runtime::engine::{Json, Saved, StoredOutput};
use flow_runtime::prelude::*;
use serde_json::json;

use crate::gates::{Gate, Gated};
use crate::support::{minutes, pass, runtime, store};

#[derive(Debug, Clone, serde::Serialize, serde::Deserialize, Action)]
enum Funds {
    Enough,
    TooLittle { lacking: u64 },
}

#[node(actions = Funds)]
fn check(passed: &u64, price: &u64) -> Funds {
    match price.checked_sub(*passed) {
        None | Some(0) => Funds::Enough,
        Some(lacking) => Funds::TooLittle { lacking },
    }
}

#[node(writes = parcel)]
fn pack(price: &u64) -> String {
    format!("worth {price}")
}

flow! {
    /// Waits at the gate, and ends with one of its two outputs.
    Buy(number: u64, price: u64) -> (parcel: Option<String>, lacking: Option<u64>) {
        node gated: Gated;
        start >> gated >> check;
        check - "enough" >> pack >> end;
        check - "too_little" >> end("unpaid");
    }
}

#[node]
fn letter(parcel: &str) -> String {
    format!("on its way: {parcel}")
}

#[node(writes = letter)]
fn reminder(lacking: &u64) -> String {
    format!("{lacking} are lacking")
}

flow! {
    /// Reads behind each end of the inner flow what is written there.
    Shop(number: u64, price: u64) -> (letter: String, parcel: Option<String>) {
        node buy: Buy;
        start >> buy;
        buy - "default" >> letter >> end;
        buy - "unpaid"  >> reminder >> end("unpaid");
    }
}

fn shop(gate: &Gate) -> Shop {
    let buy = Buy::builder().gated(gate.node(1)).build();
    Shop::builder().buy(buy).build()
}

/// The outcome of an execution whose process stops inside the inner flow.
async fn stopped_in_between(price: u64) -> ShopOutcome {
    let (gate, store) = (Gate::closed(), store());
    let first = runtime(store.clone(), shop(&gate));
    let input = ShopInput { number: 7, price };
    let started = first
        .executions()
        .start::<Shop>(input, StartOptions::new())
        .await
        .unwrap();
    pass(minutes(1)).await;
    first.shut_down().await;
    gate.open();

    let second = runtime(store, shop(&gate));
    second.recover().await.unwrap();
    let execution = second.executions().get(started.id()).await.unwrap();
    let execution = execution.settled().await.unwrap();
    assert_eq!(execution.status(), Status::Completed);
    execution.output::<Shop>().unwrap().unwrap().into_outcome()
}

#[tokio::test(start_paused = true)]
async fn each_end_has_its_outputs_after_a_stop() {
    let ShopOutcome::Default { letter, parcel } = stopped_in_between(8).await else {
        panic!("there is enough");
    };
    assert_eq!(
        (letter.as_str(), parcel.as_str()),
        ("on its way: worth 8", "worth 8")
    );
    let ShopOutcome::Unpaid { letter } = stopped_in_between(10).await else {
        panic!("there is too little");
    };
    assert_eq!(letter, "2 are lacking");
}

/// Such an output was stored by an earlier version of the flow, or was changed since.
#[test]
fn a_stored_output_without_what_its_end_always_has_is_an_error() {
    let load = |output| {
        let saved = Saved::from_json(output).expect("an object");
        let loaded = <Buy as StoredOutput<Json>>::load_output(saved);
        loaded
            .map(BuyOutput::into_outcome)
            .map_err(|error| error.to_string())
    };
    let unpaid = load(json!({ "lacking": 2, "end": "unpaid" }));
    assert!(
        matches!(unpaid, Ok(BuyOutcome::Unpaid { lacking: 2 })),
        "{unpaid:?}"
    );
    let error = load(json!({ "lacking": 2, "end": "default" })).unwrap_err();
    assert_eq!(error, "`parcel`: it is missing");
}

flow_law::law! {
    nodes: [check, pack, letter, reminder],
    flows: [
    ],
    left_out: [Buy, Shop],
}
