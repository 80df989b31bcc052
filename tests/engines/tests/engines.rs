//! Flows on engines from outside.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use flow_engines::{Playback, Recorder, Recording, Timeline};
use flow_runtime::prelude::*;
use flow_runtime::{SignalSender, engine};
use serde::{Deserialize, Serialize};

thread_local! {
    /// How much work was done. Each test has its thread.
    static WORK: Cell<u32> = const { Cell::new(0) };
}

/// Counts work. How much was done before.
fn work() -> u32 {
    WORK.replace(WORK.get() + 1)
}

#[node(writes = parcels)]
async fn pick(order: &u32) -> Vec<u32> {
    work();
    tokio::time::sleep(Duration::from_secs(1)).await;
    vec![*order; 3]
}

#[node]
async fn pack(parcel: &u32) -> String {
    work();
    tokio::time::sleep(Duration::from_secs(1)).await;
    format!("box of {parcel}")
}

/// Fails when it is visited in the first attempt at its flow.
#[node]
async fn reserve(order: &u32) -> Result<u32, String> {
    match work() {
        0 => Err("nothing is left".to_owned()),
        _ => Ok(order * 2),
    }
}

#[node]
async fn weigh(parcels: &[u32]) -> u32 {
    work();
    tokio::time::sleep(Duration::from_secs(2)).await;
    parcels.iter().sum()
}

#[node(human = "Send {weigh}?")]
#[derive(Serialize, Deserialize, Clone)]
enum Consent {
    Yes { to: String },
    No,
}

flow! {
    Stock(order: u32) -> (reserve: u32) {
        start >> reserve >> end;
    }
}

flow! {
    Shipping(order: u32) -> (boxes: Vec<String>, reserve: u32, weigh: u32, to: Option<String>) {
        node stock: Stock = Stock::new() with retry(attempts = 2, wait = "1s");
        node boxes: for parcel in parcels { pack };
        start >> stock >> pick >> [weigh, boxes] >> wait(1h) >> Consent;
        Consent - "yes" >> end;
        Consent - "no" >> pick;
    }
}

fn answers() -> RunOptions<impl Sized> {
    let asked = AtomicU32::new(0);
    RunOptions::answer(move |_: &flow_runtime::Question| {
        match asked.fetch_add(1, Ordering::Relaxed) {
            0 => Consent::No,
            _ => Consent::Yes {
                to: "Ann".to_owned(),
            },
        }
    })
}

#[tokio::test(start_paused = true)]
async fn a_recorded_run_is_played_back_without_any_work() {
    let recorder = Recorder::new(answers());
    let input = || ShippingInput { order: 7 };
    let output = engine::run(&Shipping::new(), &recorder, input()).await;
    let output = output.unwrap();
    let recording = recorder.into_recording();
    assert_eq!(
        recording.steps(),
        [
            "shipping.consent",
            "shipping.consent#2",
            "shipping.fork#2.boxes[0]",
            "shipping.fork#2.boxes[1]",
            "shipping.fork#2.boxes[2]",
            "shipping.fork#2.weigh",
            "shipping.fork.boxes[0]",
            "shipping.fork.boxes[1]",
            "shipping.fork.boxes[2]",
            "shipping.fork.weigh",
            "shipping.pick",
            "shipping.pick#2",
            "shipping.stock.reserve",
            "shipping.stock~1.reserve",
        ]
    );

    let (done, began) = (WORK.get(), tokio::time::Instant::now());
    let recording = Recording::from_json(recording.to_json()).unwrap();
    let playback = Playback::new(recording);
    let played = engine::run(&Shipping::new(), &playback, input())
        .await
        .unwrap();
    assert_eq!(
        (played.boxes, played.reserve, played.weigh, played.to),
        (output.boxes, output.reserve, output.weigh, output.to)
    );
    assert_eq!(WORK.get(), done);
    assert!(
        began.elapsed() <= Duration::from_secs(1),
        "{:?}",
        began.elapsed()
    );
}

#[tokio::test]
async fn what_was_not_recorded_is_an_error() {
    let nothing = Playback::new(Recording::default());
    let input = ShippingInput { order: 7 };
    let error = engine::run(&Shipping::new(), &nothing, input)
        .await
        .unwrap_err();
    assert_eq!(
        format!("{error:#}"),
        "node `shipping.stock.reserve` failed after 1 attempt: `shipping.stock~1.reserve` is not recorded"
    );
}

#[tokio::test(start_paused = true)]
async fn a_timeline_shows_what_was_under_way_when() {
    flow! {
        Packing(order: u32) -> (weigh: u32, boxes: Vec<String>) {
            node boxes: for parcel in parcels { pack };
            start >> pick >> [weigh, boxes] >> wait(1s) >> end;
        }
    }
    let timeline = Timeline::new(RunOptions::new());
    let input = PackingInput { order: 7 };
    engine::run(&Packing::new(), &timeline, input)
        .await
        .unwrap();
    let expected = "\
packing.pick     ########
packing.weigh            ################
packing.boxes[0]         ########
packing.boxes[1]                 ########
packing.boxes[2]                         ########
packing.wait                                     ########
";
    assert_eq!(timeline.to_string(), expected);
}

#[node(signal, timeout = "1h")]
#[derive(Serialize, Deserialize, Clone)]
struct Address {
    street: String,
    floor: u8,
}

#[node(signal)]
#[derive(Serialize, Deserialize)]
enum Change {
    Stop,
    Move { street: String },
}

flow! {
    Delivery() -> (street: Option<String>, floor: Option<u8>) {
        start >> Change;
        Change - "move" >> Change;
        Change - "stop" >> Address >> end;
        Address - "timeout" >> end("late");
    }
}

/// The values of signals, and that none came in time, are played back.
#[tokio::test(start_paused = true)]
async fn signals_are_recorded_and_played_back() {
    for in_time in [true, false] {
        let flow = Delivery::new();
        let sender = SignalSender::new(&flow);
        let street = "Elm".to_owned();
        sender.send(Change::Move { street }).unwrap();
        sender.send(Change::Stop).unwrap();
        if in_time {
            let (street, floor) = ("Oak".to_owned(), 3);
            sender.send(Address { street, floor }).unwrap();
        }
        let recorder = Recorder::new(RunOptions::new().signals(&sender));
        let output = engine::run(&flow, &recorder, DeliveryInput {}).await;
        let output = output.unwrap();
        let expected = if in_time {
            (Some("Oak"), Some(3), DeliveryEnd::Default)
        } else {
            (Some("Elm"), None, DeliveryEnd::Late)
        };
        assert_eq!(
            (output.street.as_deref(), output.floor, output.end),
            expected
        );
        let recording = recorder.into_recording();
        assert_eq!(
            recording.steps(),
            ["delivery.address", "delivery.change", "delivery.change#2"]
        );

        let began = tokio::time::Instant::now();
        let recording = Recording::from_json(recording.to_json()).unwrap();
        let playback = Playback::new(recording);
        let played = engine::run(&flow, &playback, DeliveryInput {}).await;
        let played = played.unwrap();
        assert_eq!(
            (played.street.as_deref(), played.floor, played.end),
            expected
        );
        assert_eq!(began.elapsed(), Duration::ZERO);
    }
}
