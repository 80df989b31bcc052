//! Flows that wait for signals, in each form and each place.

use super::*;

#[node(signal)]
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Ping;

#[node(signal, timeout = "1h")]
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Paid {
    cents: u64,
    by: Option<String>,
}

#[node(signal)]
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Reason {
    topic: String,
}

#[node(signal, writes = address)]
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct NewAddress {
    street: String,
}

#[node(signal, writes = +bids)]
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Bid(u32);

#[node(signal)]
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Change {
    Stop {
        reason: String,
    },
    #[action("go_on")]
    GoOn,
}

#[node]
async fn prepare(number: &u32) -> u32 {
    tokio::time::sleep(Duration::from_millis(5)).await;
    number * 2
}

flow! {
    #[derive(Serialize, Deserialize)]
    Waits(number: u32) -> (reason: Option<String>, prepare: u32) {
        start >> prepare >> Change;
        Change - "stop" >> end("stopped");
        Change - "go_on" >> end;
    }
}

flow! {
    Signals(numbers: Vec<u32>, number: u32) -> (
        draft: Option<String>, address: Option<NewAddress>, bids: Vec<Bid>, cents: Option<u64>, all: Option<Vec<WaitsOutput>>,
    ) {
        node soon: signal Paid { cents -> price } with timeout = "90s";
        node second: signal Bid;
        node next: first { Paid, Reason >> write => "written", wait(2d) => "late" };
        node all: for number in numbers { Waits } with concurrency(2);
        start >> Ping >> soon >> [NewAddress, Bid, second] >> Waits >> all >> next - "written" >> end;
        soon - "timeout" >> [NewAddress, Bid, second];
        Waits - "stopped" >> end("stopped");
        next - "default" >> end("paid");
        next - "timeout" >> end("unpaid");
        next - "late" >> end("late");
    }
}

fn signals() -> flow_loader::Registry {
    registry![Ping, Paid, Reason, NewAddress, Bid, Change, prepare, write]
}

/// What each run takes before its race.
fn sent(change: Value, last: &[Value]) -> Value {
    let mut signals = vec![
        json!(["Ping", null]),
        json!(["Bid", 3]),
        json!(["NewAddress", { "street": "Elm" }]),
        json!(["Bid", 4]),
        json!(["Change", change]),
        json!(["Change", "GoOn"]),
        json!(["Change", { "Stop": { "reason": "why" } }]),
    ];
    signals.extend_from_slice(last);
    json!({ "signals": signals })
}

law!(signals_written_and_decided: Signals::new(), Signals, signals(), [
    json!({ "numbers": [1, 2], "number": 3 }),
], sent(json!("GoOn"), &[
    json!(["Paid", { "cents": 1, "by": "Ann" }]),
    json!(["Reason", { "topic": "crabs" }]),
]));
law!(signals_of_one_turn: Signals::new(), Signals, signals(), [
    json!({ "numbers": [1, 2], "number": 3 }),
], sent(json!("GoOn"), &[
    json!(["Reason", { "topic": "crabs" }]),
    json!(["Paid", { "cents": 1, "by": null }]),
    json!(["Paid", { "cents": 2, "by": null }]),
]));
law!(signals_that_do_not_come_in_time: Signals::new(), Signals, signals(), [
    json!({ "numbers": [1, 2], "number": 3 }),
], sent(json!("GoOn"), &[]));
law!(a_signal_that_stops: Signals::new(), Signals, signals(), [
    json!({ "numbers": [], "number": 3 }),
], sent(json!({ "Stop": { "reason": "enough" } }), &[]));
