//! Signals: what is sent to a run, which step takes it, and what becomes of one that no step takes.

use std::num::NonZeroUsize;
use std::time::Duration;

use flow_runtime::prelude::*;
use flow_runtime::testing::Scripted;
use flow_runtime::{CancellationToken, SignalError, SignalSender};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::support::{Calls, Recorder, pause};

/// The customer has changed their mind.
#[node(signal)]
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CancelRequest {
    reason: String,
}

#[node(signal)]
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Paid {
    cents: u64,
    by: Option<String>,
}

#[node(signal)]
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Ping;

/// Written as a whole.
#[node(signal, writes = address)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct NewAddress {
    street: String,
}

/// Added to a list.
#[node(signal, writes = +bids)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Bid(u32);

#[node(signal)]
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Change {
    Stop {
        reason: String,
    },
    #[action("go_on")]
    GoOn,
}

#[node(writes = told)]
fn tell(reason: &str) -> String {
    format!("told: {reason}")
}

flow! {
    Cancelled() -> (told: String, reason: String) {
        start >> CancelRequest >> tell >> end;
    }
}

fn cancel(reason: &str) -> CancelRequest {
    CancelRequest {
        reason: reason.to_owned(),
    }
}

#[tokio::test(start_paused = true)]
async fn a_signal_that_comes_before_its_step_is_kept() {
    let flow = Cancelled::new();
    let sender = SignalSender::new(&flow);
    sender.send(cancel("too late")).unwrap();
    let options = RunOptions::new().signals(&sender);
    let output = flow.run_with(CancelledInput {}, options).await.unwrap();
    assert_eq!(output.told, "told: too late");
    assert_eq!(output.reason, "too late");
}

#[tokio::test(start_paused = true)]
async fn a_step_waits_for_its_signal() {
    let flow = Cancelled::new();
    let sender = SignalSender::new(&flow);
    let began = Instant::now();
    let options = RunOptions::new().signals(&sender);
    let send = async {
        sleep(Duration::from_secs(60)).await;
        sender.send(cancel("why not")).unwrap();
    };
    let (output, ()) = tokio::join!(flow.run_with(CancelledInput {}, options), send);
    assert_eq!(output.unwrap().told, "told: why not");
    assert_eq!(began.elapsed(), Duration::from_secs(60));
}

flow! {
    /// Every form of a signal.
    Forms() -> (cents: u64, by: Option<String>, address: NewAddress, bids: Vec<Bid>, reason: Option<String>) {
        node second: signal Bid;
        start >> Paid >> Ping >> NewAddress >> Bid >> second >> Change;
        Change - "stop" >> end("stopped");
        Change - "go_on" >> end;
    }
}

#[tokio::test]
async fn a_struct_writes_its_fields_or_the_whole_and_an_enum_decides() {
    let flow = Forms::new();
    let send = |change: Change| {
        let sender = SignalSender::new(&flow);
        sender.send(change).unwrap();
        let (cents, by) = (7, None);
        sender.send(Paid { cents, by }).unwrap();
        sender.send(Ping).unwrap();
        let street = "Elm".to_owned();
        sender.send(NewAddress { street }).unwrap();
        sender.send(Bid(1)).unwrap();
        sender.send(Bid(2)).unwrap();
        sender
    };
    let sender = send(Change::GoOn);
    let options = RunOptions::new().signals(&sender);
    let output = flow.run_with(FormsInput {}, options).await.unwrap();
    assert_eq!((output.cents, output.by.as_deref()), (7, None));
    assert_eq!(output.address.street, "Elm");
    assert_eq!(output.bids, [Bid(1), Bid(2)]);
    assert_eq!((output.reason, output.end), (None, FormsEnd::Default));

    let reason = "enough".to_owned();
    let sender = send(Change::Stop { reason });
    let options = RunOptions::new().signals(&sender);
    let output = flow.run_with(FormsInput {}, options).await.unwrap();
    assert_eq!(output.reason.as_deref(), Some("enough"));
    assert_eq!(output.end, FormsEnd::Stopped);
}

#[test]
fn a_signal_that_no_step_takes_is_refused() {
    let flow = Cancelled::new();
    let sender = SignalSender::new(&flow);
    let refused = sender.send(Ping).unwrap_err();
    let known = vec!["CancelRequest".to_owned()];
    let name = "Ping".to_owned();
    assert_eq!(refused, SignalError::Unknown { name, known });
    assert_eq!(
        refused.to_string(),
        "no step waits for the signal `Ping`; the flow waits for `CancelRequest`"
    );
    for body in [json!({}), json!({ "reason": 3 }), json!("why"), json!(null)] {
        let refused = sender.send_json("CancelRequest", body).unwrap_err();
        assert!(
            matches!(&refused, SignalError::WrongType { name, .. } if name == "CancelRequest"),
            "{refused}"
        );
    }
    let body = json!({ "reason": "why" });
    sender.send_json("CancelRequest", body).unwrap();
    assert_eq!(format!("{sender:?}"), r#"SignalSender(["CancelRequest"])"#);
}

flow! {
    Silent() -> (told: String) {
        node tell: tell { reason <- told };
        node say: say;
        start >> say >> tell >> end;
    }
}

#[node(writes = told)]
fn say() -> String {
    "nothing".to_owned()
}

#[test]
fn a_flow_without_signals_takes_none() {
    let sender = SignalSender::new(&Silent::new());
    assert_eq!(
        sender.send(Ping).unwrap_err().to_string(),
        "the flow takes no signals, so `Ping` cannot be sent"
    );
}

#[tokio::test(start_paused = true)]
async fn nothing_can_be_sent_to_a_run_that_is_over() {
    let flow = Cancelled::new();
    let sender = SignalSender::new(&flow);
    sender.send(cancel("a")).unwrap();
    let input = CancelledInput {};
    flow.run_with(input, RunOptions::new().signals(&sender))
        .await
        .unwrap();
    assert_eq!(sender.send(cancel("b")).unwrap_err(), SignalError::Over);

    // Nor to one that was dropped while it waited.
    let sender = SignalSender::new(&flow);
    let run = flow.run_with(CancelledInput {}, RunOptions::new().signals(&sender));
    let dropped = tokio::time::timeout(Duration::from_secs(1), run).await;
    assert!(dropped.is_err());
    assert_eq!(sender.send(cancel("c")).unwrap_err(), SignalError::Over);

    // Nor while the run of a clone is over: they send to one run.
    let sender = SignalSender::new(&flow);
    let clone = sender.clone();
    clone.send(cancel("d")).unwrap();
    let options = RunOptions::new().signals(&sender);
    flow.run_with(CancelledInput {}, options).await.unwrap();
    assert_eq!(clone.send(cancel("e")).unwrap_err(), SignalError::Over);
}

#[node(writes = +all)]
fn keep(reason: &str) -> String {
    reason.to_owned()
}

flow! {
    /// Takes three, one after the other.
    Thrice(all: Vec<String>) -> (all: Vec<String>) {
        branch enough(all) { all.len() > 2 => "yes", else => "no" }
        start >> CancelRequest >> keep >> enough;
        enough - "no" >> CancelRequest;
        enough - "yes" >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn each_visit_takes_one_in_the_order_in_which_they_were_sent() {
    let flow = Thrice::new();
    let sender = SignalSender::new(&flow);
    sender.send(cancel("a")).unwrap();
    sender.send(cancel("b")).unwrap();
    let options = RunOptions::new().signals(&sender);
    let send = async {
        pause(10).await;
        sender.send(cancel("c")).unwrap();
        sender.send(cancel("d")).unwrap();
    };
    let input = ThriceInput { all: Vec::new() };
    let (output, ()) = tokio::join!(flow.run_with(input, options), send);
    assert_eq!(output.unwrap().all, ["a", "b", "c"]);
}

#[node(writes = first_told)]
fn tell_first(reason: &str) -> String {
    reason.to_owned()
}

#[node(writes = second_told)]
fn tell_second(reason: &str) -> String {
    reason.to_owned()
}

flow! {
    /// Two steps wait for one signal at once.
    Waiters() -> (first_told: String, second_told: String) {
        node one: signal CancelRequest { reason -> one };
        node two: signal CancelRequest { reason -> two };
        node first: tell_first { reason <- one };
        node second: tell_second { reason <- two };
        start >> [one >> first, two >> second] >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn of_two_steps_that_wait_each_takes_one() {
    let flow = Waiters::new();
    let sender = SignalSender::new(&flow);
    let options = RunOptions::new().signals(&sender);
    let send = async {
        pause(10).await;
        sender.send(cancel("a")).unwrap();
        pause(10).await;
        sender.send(cancel("b")).unwrap();
    };
    let (output, ()) = tokio::join!(flow.run_with(WaitersInput {}, options), send);
    let output = output.unwrap();
    assert_eq!((&*output.first_told, &*output.second_told), ("a", "b"));
}

#[tokio::test(start_paused = true)]
async fn of_two_runs_with_one_sender_each_takes_one() {
    let flow = Cancelled::new();
    let sender = SignalSender::new(&flow);
    let run = || {
        let options = RunOptions::new().signals(&sender);
        async {
            flow.run_with(CancelledInput {}, options)
                .await
                .unwrap()
                .reason
        }
    };
    let send = async {
        pause(10).await;
        sender.send(cancel("a")).unwrap();
        sender.send(cancel("b")).unwrap();
        // One of them is over, the other not yet.
    };
    let (one, two, ()) = tokio::join!(run(), run(), send);
    let mut both = [one, two];
    both.sort();
    assert_eq!(both, ["a", "b"]);
    assert_eq!(sender.send(cancel("c")).unwrap_err(), SignalError::Over);
}

flow! {
    Routed() -> (reason: Option<String>) {
        node stop: signal CancelRequest with timeout = "2h";
        start >> stop >> end;
        stop - "timeout" >> end("late");
    }
}

#[node(writes = failure)]
fn explain(error: &NodeError) -> String {
    format!("{error:#}")
}

flow! {
    Failing() -> (reason: Option<String>, failure: Option<String>) {
        node stop: signal CancelRequest with timeout = "2h";
        start >> stop >> end;
        stop - "error" >> explain >> end("failed");
    }
}

flow! {
    Strict() -> (reason: String) {
        node stop: signal CancelRequest with timeout = "2h";
        start >> stop >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn a_signal_that_does_not_come_in_time_takes_timeout_or_error_or_fails() {
    let began = Instant::now();
    let flow = Routed::new();
    let options = RunOptions::new().signals(&SignalSender::new(&flow));
    let output = flow.run_with(RoutedInput {}, options).await;
    assert_eq!(output.unwrap().end, RoutedEnd::Late);
    assert_eq!(began.elapsed(), Duration::from_secs(2 * 60 * 60));

    let flow = Failing::new();
    let options = RunOptions::new().signals(&SignalSender::new(&flow));
    let output = flow.run_with(FailingInput {}, options).await.unwrap();
    let expected = "node `failing.stop` failed after 1 attempt: timed out after 7200s";
    assert_eq!(output.failure.as_deref(), Some(expected));

    let flow = Strict::new();
    let recorder = Recorder::shared();
    let options = RunOptions::new().signals(&SignalSender::new(&flow));
    let options = options.observer(recorder.clone());
    let error = flow.run_with(StrictInput {}, options).await.unwrap_err();
    assert!(
        matches!(&error, FlowError::Node(error) if error.is_timeout()),
        "{error}"
    );
    let told = recorder.events();
    assert!(told[2].starts_with("strict.stop failed"), "{told:?}");

    // One that comes in time is taken.
    let flow = Routed::new();
    let sender = SignalSender::new(&flow);
    let options = RunOptions::new().signals(&sender);
    let send = async {
        sleep(Duration::from_secs(7_199)).await;
        sender.send(cancel("just in time")).unwrap();
    };
    let (output, ()) = tokio::join!(flow.run_with(RoutedInput {}, options), send);
    assert_eq!(output.unwrap().end, RoutedEnd::Default);
}

#[tokio::test(start_paused = true)]
async fn an_observer_sees_the_step_wait_and_decide() {
    let flow = Forms::new();
    let recorder = Recorder::shared();
    let sender = SignalSender::new(&flow);
    let (cents, by) = (1, Some("Ann".to_owned()));
    sender.send(Paid { cents, by }).unwrap();
    let options = RunOptions::new().signals(&sender);
    let run = flow.run_with(FormsInput {}, options.observer(recorder.clone()));
    assert!(
        tokio::time::timeout(Duration::from_secs(1), run)
            .await
            .is_err()
    );
    assert_eq!(
        recorder.events(),
        [
            "forms.paid started",
            "forms.paid finished: default",
            "forms.ping started",
        ]
    );
}

#[node(writes = done)]
async fn work(millis: &u64) -> u64 {
    pause(*millis).await;
    *millis
}

flow! {
    /// A signal beside a work, in a race.
    Raced(millis: u64) -> (reason: Option<String>, done: Option<u64>) {
        node next: first { CancelRequest => "cancelled", work => "done" };
        start >> next;
        next - "cancelled" >> end("cancelled");
        next - "done" >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn a_signal_ends_a_race_and_the_work_is_dropped() {
    let flow = Raced::new();
    let sender = SignalSender::new(&flow);
    let options = RunOptions::new().signals(&sender);
    let send = async {
        pause(50).await;
        sender.send(cancel("enough")).unwrap();
    };
    let began = Instant::now();
    let (output, ()) = tokio::join!(flow.run_with(RacedInput { millis: 1000 }, options), send);
    let output = output.unwrap();
    assert_eq!(output.reason.as_deref(), Some("enough"));
    assert_eq!(output.end, RacedEnd::Cancelled);
    assert_eq!(began.elapsed(), Duration::from_millis(50));

    let options = RunOptions::new().signals(&SignalSender::new(&flow));
    let output = flow.run_with(RacedInput { millis: 10 }, options).await;
    assert_eq!(output.unwrap().done, Some(10));
}

flow! {
    /// What is there in the same turn is decided by the order in which the branches are written. A
    /// signal that another branch drops is not taken.
    Ordered() -> (reason: Option<String>, cents: Option<u64>) {
        node next: first { Ping => "ping", Paid => "paid", wait(1s) => "late" };
        node second_ping: signal Ping;
        node second_paid: signal Paid;
        node again: first { second_paid => "paid", second_ping => "ping" };
        start >> next;
        next - "ping" >> again;
        next - "paid" >> end("paid_first");
        next - "late" >> end("late");
        again - "paid" >> CancelRequest >> end;
        again - "ping" >> end("ping_twice");
    }
}

#[tokio::test(start_paused = true)]
async fn signals_of_one_turn_are_taken_in_the_order_of_the_branches() {
    let flow = Ordered::new();
    for in_the_run in [false, true] {
        let sender = SignalSender::new(&flow);
        let options = RunOptions::new().signals(&sender);
        let send = async {
            if in_the_run {
                pause(10).await;
            }
            let (cents, by) = (3, None);
            sender.send(Paid { cents, by }).unwrap();
            sender.send(Ping).unwrap();
            sender.send(cancel("over")).unwrap();
        };
        let (output, ()) = tokio::join!(flow.run_with(OrderedInput {}, options), send);
        let output = output.unwrap();
        // `Paid` was sent first, waited while `Ping` won, and was taken by the next race.
        assert_eq!((output.cents, output.end), (Some(3), OrderedEnd::Default));
        assert_eq!(output.reason.as_deref(), Some("over"));
    }
}

#[node(writes = noted)]
async fn note(calls: &Calls) -> usize {
    calls.note("noted");
    calls.count()
}

flow! {
    Beside(calls: Calls) -> (reason: String, cents: u64, noted: usize) {
        start >> [CancelRequest, Paid, note] >> end;
    }
}

/// A step that waits does nothing, so it does not keep others from working.
#[tokio::test(start_paused = true)]
async fn a_step_that_waits_takes_no_place() {
    let flow = Beside::new();
    let sender = SignalSender::new(&flow);
    let options = RunOptions::new()
        .signals(&sender)
        .concurrency(NonZeroUsize::MIN);
    let calls = Calls::default();
    let send = async {
        pause(10).await;
        assert_eq!(calls.all(), ["noted"]);
        let (cents, by) = (3, None);
        sender.send(Paid { cents, by }).unwrap();
        sender.send(cancel("why")).unwrap();
    };
    let input = BesideInput {
        calls: calls.clone(),
    };
    let (output, ()) = tokio::join!(flow.run_with(input, options), send);
    let output = output.unwrap();
    assert_eq!((&*output.reason, output.cents, output.noted), ("why", 3, 1));
}

flow! {
    Inner(millis: u64) -> (reason: String, done: u64) {
        start >> work >> CancelRequest >> end;
    }
}

flow! {
    /// Flows that wait, as a node and in a loop.
    Around(ids: Vec<u64>, millis: u64) -> (reason: String, done: u64, all: Vec<InnerOutput>) {
        node all: for millis in ids { Inner };
        start >> Inner >> all >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn inner_flows_and_the_items_of_loops_take_the_signals_of_the_run() {
    let flow = Around::new();
    let sender = SignalSender::new(&flow);
    for reason in ["a", "b", "c"] {
        sender.send(cancel(reason)).unwrap();
    }
    let options = RunOptions::new().signals(&sender);
    let input = AroundInput {
        ids: vec![5, 1],
        millis: 1,
    };
    let output = flow.run_with(input, options).await.unwrap();
    assert_eq!(output.reason, "a");
    let all: Vec<_> = output.all.iter().map(|it| (it.done, &*it.reason)).collect();
    assert_eq!(all, [(5, "b"), (1, "c")]);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_waits_can_be_cancelled_and_has_a_deadline() {
    let flow = Cancelled::new();
    let token = CancellationToken::new();
    let options = RunOptions::new().signals(&SignalSender::new(&flow));
    let cancel = async {
        pause(10).await;
        token.cancel();
    };
    let run = flow.run_with(CancelledInput {}, options.cancellation(token.clone()));
    let (ended, ()) = tokio::join!(run, cancel);
    assert!(
        matches!(ended, Err(FlowError::Cancelled { .. })),
        "{ended:?}"
    );

    let options = RunOptions::new().signals(&SignalSender::new(&flow));
    let options = options.deadline(Duration::from_secs(5));
    let ended = flow.run_with(CancelledInput {}, options).await;
    assert!(
        matches!(ended, Err(FlowError::TimedOut { .. })),
        "{ended:?}"
    );
}

/// Without a script, a signal never comes: what is beside it in a race is tested alone.
#[tokio::test(start_paused = true)]
async fn a_script_sends_a_signal_to_each_visit() {
    let scripted = Scripted::new();
    let run = scripted.run(&Raced::new(), RacedInput { millis: 10 }).await;
    assert_eq!(run.result().unwrap().done, Some(10));

    let scripted = scripted.node::<CancelRequest>(|visit| cancel(&format!("{}", visit.number())));
    let run = scripted.run(&Raced::new(), RacedInput { millis: 10 }).await;
    assert_eq!(run.result().unwrap().reason.as_deref(), Some("1"));

    let input = ThriceInput { all: Vec::new() };
    let run = scripted.run(&Thrice::new(), input).await;
    assert_eq!(run.into_result().unwrap().all, ["1", "2", "3"]);

    let scripted = Scripted::new().node::<Change>(|_| Change::GoOn);
    let scripted = scripted
        .node::<Ping>(|_| Ping)
        .node::<Bid>(|visit| Bid(visit.number()));
    let scripted = scripted.node::<Paid>(|_| Paid { cents: 1, by: None });
    let scripted = scripted.node::<NewAddress>(|_| NewAddress {
        street: String::new(),
    });
    let run = scripted.run(&Forms::new(), FormsInput {}).await;
    let nodes = ["paid", "ping", "new_address", "bid", "second", "change"];
    assert_eq!(run.nodes(), nodes);
    assert_eq!(run.into_result().unwrap().bids, [Bid(1), Bid(1)]);
}

#[tokio::test(start_paused = true)]
async fn a_script_fails_a_signal_as_if_it_had_not_come() {
    let scripted = Scripted::new().try_node::<CancelRequest, _>(|_| Err("nobody"));
    let run = scripted.run(&Failing::new(), FailingInput {}).await;
    let output = run.into_result().unwrap();
    let expected = "node `failing.stop` failed after 1 attempt: nobody";
    assert_eq!(output.failure.as_deref(), Some(expected));
}

sources! {
    "signals.rs":
    Cancelled => CancelledAgain,
    Forms => FormsAgain,
    Waiters => WaitersAgain,
    Routed => RoutedAgain,
    Failing => FailingAgain,
    Raced => RacedAgain,
    Ordered => OrderedAgain,
    Inner => InnerAgain,
}

flow_law::law! {
    nodes: [
        CancelRequest, Paid, Ping, NewAddress, Bid, Change, tell, say, keep, tell_first, tell_second, explain, work, note,
    ],
    flows: [
        Cancelled,
        Forms,
        Silent,
        Waiters,
        Routed,
        Failing,
        Strict,
        Raced,
        Ordered,
        Beside,
        Inner,
    ],
    not_json: [Around],
    left_out: [Thrice],
}
