//! What becomes of errors, panics, endless runs and cancelled ones.

use std::future::pending;
use std::task::Poll;
use std::time::Duration;

use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};
use tokio::task::yield_now;
use tokio::time::{Instant, advance, sleep};

use crate::support::{Broken, Calls, DropGuard, Recorder};

#[node(retry(attempts = 2))]
fn charge(amount: &u32, calls: &Calls) -> Result<String, Broken> {
    calls.note("charge");
    match amount {
        0 => Err(Broken("nothing to charge")),
        amount => Ok(format!("charged {amount}")),
    }
}

#[node]
fn apologise(error: &NodeError) -> String {
    let cause = error
        .downcast_ref::<Broken>()
        .map_or("unknown", |broken| broken.0);
    format!(
        "sorry: {cause} ({}, {} attempts)",
        error.path(),
        error.attempts()
    )
}

flow! {
    Charges(amount: u32, calls: Calls) -> (charge: Option<String>, apologise: Option<String>) {
        start >> charge >> end;
        charge - "error" >> apologise >> end("refused");
    }
}

/// D-08
#[tokio::test]
async fn an_error_goes_where_it_is_routed() {
    let calls = Calls::default();
    let input = ChargesInput::builder()
        .amount(0)
        .calls(calls.clone())
        .build();
    let out = Charges::new().run(input).await.unwrap();
    assert_eq!((out.charge, out.end), (None, ChargesEnd::Refused));
    assert_eq!(
        out.apologise.unwrap(),
        "sorry: nothing to charge (charges.charge, 2 attempts)"
    );
    assert_eq!(calls.count(), 2);

    let input = ChargesInput::builder().amount(3).calls(calls).build();
    let out = Charges::new().run(input).await.unwrap();
    assert_eq!(
        (out.charge.as_deref(), out.apologise),
        (Some("charged 3"), None)
    );
    assert_eq!(out.end, ChargesEnd::Default);
}

flow! {
    ChargesOrFails(amount: u32, calls: Calls) -> (charge: String) {
        start >> charge >> end;
    }
}

/// D-08
#[tokio::test]
async fn an_error_that_is_not_routed_ends_the_run() {
    let input = ChargesOrFailsInput::builder()
        .amount(0)
        .calls(Calls::default())
        .build();
    let error = ChargesOrFails::new().run(input).await.unwrap_err();
    assert_eq!(error.path(), "charges_or_fails.charge");
    assert_eq!(
        error.to_string(),
        "node `charges_or_fails.charge` failed after 2 attempts"
    );
    assert_eq!(
        format!("{error:#}"),
        "node `charges_or_fails.charge` failed after 2 attempts: nothing to charge"
    );
}

#[node(writes = charge)]
fn charge_later(error: &NodeError) -> String {
    format!("later, because of {}", error.error())
}

flow! {
    GoesOnAfterAnError(amount: u32, calls: Calls) -> (charge: String, size: usize) {
        start >> charge >> size >> end;
        charge - "error" >> charge_later >> size;
    }
}

#[node]
fn size(charge: &str, error: Option<&NodeError>) -> usize {
    charge.len() + error.map_or(0, |_| 1000)
}

#[tokio::test]
async fn a_handled_error_leads_back_into_the_flow() {
    for (amount, charge, size) in [
        (5, "charged 5", 9),
        (0, "later, because of nothing to charge", 1035),
    ] {
        let input = GoesOnAfterAnErrorInput::builder()
            .amount(amount)
            .calls(Calls::default())
            .build();
        let out = GoesOnAfterAnError::new().run(input).await.unwrap();
        assert_eq!((out.charge.as_str(), out.size), (charge, size));
    }
}

flow! {
    Shop(amount: u32, calls: Calls) -> (charge: Option<String>, apologise: Option<String>) {
        node payment: ChargesOrFails = ChargesOrFails::new();
        start >> payment >> end;
        payment - "error" >> apologise >> end("refused");
    }
}

flow! {
    Street(amount: u32, calls: Calls) -> (charge: Option<String>, apologise: Option<String>) {
        start >> Shop;
        Shop - "default" >> end;
        Shop - "refused" >> end("refused");
    }
}

#[tokio::test]
async fn the_error_of_a_nested_flow_goes_where_the_flow_around_it_routes_it() {
    let input = StreetInput::builder()
        .amount(0)
        .calls(Calls::default())
        .build();
    let recorder = Recorder::shared();
    let options = RunOptions::new().observer(recorder.clone());
    let out = Street::new().run_with(input, options).await.unwrap();
    assert_eq!(out.end, StreetEnd::Refused);
    assert_eq!(
        out.apologise.unwrap(),
        "sorry: nothing to charge (street.shop.payment.charge, 2 attempts)"
    );
    assert_eq!(
        recorder.events(),
        [
            "street.shop started",
            "street.shop.payment started",
            "street.shop.payment.charge started",
            "street.shop.payment.charge attempt 0 failed: nothing to charge",
            "street.shop.payment.charge attempt 1 failed: nothing to charge",
            "street.shop.payment.charge failed after 2 attempts: nothing to charge",
            "street.shop.payment failed: node `street.shop.payment.charge` failed after 2 attempts: nothing to charge",
            "street.shop.payment finished: error",
            "street.shop.apologise started",
            "street.shop.apologise finished: default",
            "street.shop ended: refused",
            "street.shop finished: refused",
            "street ended: refused",
        ]
    );
}

#[derive(Debug)]
struct Bomb(&'static str);

#[node(retry(attempts = 3), timeout = "1s")]
impl Bomb {
    fn prep(&self, calls: &Calls) -> Calls {
        calls.note("prep");
        assert_ne!(self.0, "prep", "in prep");
        calls.clone()
    }

    async fn exec(&self, calls: &Calls) -> Result<u32, Broken> {
        calls.note("exec");
        yield_now().await;
        assert_ne!(self.0, "exec", "in exec");
        match self.0 {
            "exec_fallback" => Err(Broken("out of luck")),
            _ => Ok(1),
        }
    }

    fn exec_fallback(&self, calls: &Calls) -> u32 {
        calls.note("exec_fallback");
        panic!("in exec_fallback")
    }

    fn post(&self, exec_res: u32) -> Result<u32, Broken> {
        assert_ne!(self.0, "post", "in post");
        Ok(exec_res)
    }
}

flow! {
    Explodes(calls: Calls) -> (bomb: Option<u32>) {
        node bomb: Bomb;
        start >> bomb >> end;
        bomb - "error" >> end("handled");
    }
}

#[tokio::test]
async fn a_panic_is_neither_retried_nor_routed() {
    for (phase, called) in [
        ("prep", &["prep"][..]),
        ("exec", &["prep", "exec"]),
        (
            "exec_fallback",
            &["prep", "exec", "exec", "exec", "exec_fallback"],
        ),
        ("post", &["prep", "exec"]),
    ] {
        let calls = Calls::default();
        let flow = Explodes::builder().bomb(Bomb(phase)).build();
        let input = ExplodesInput::builder().calls(calls.clone()).build();
        let error = flow.run(input).await.unwrap_err();
        let FlowError::Panicked { path, message } = &error else {
            panic!("{error:?}")
        };
        assert_eq!(path, "explodes.bomb");
        assert!(message.contains(&format!("in {phase}")), "{message}");
        assert!(error.node_error().is_none());
        assert_eq!(calls.all(), called, "{phase}");
    }
}

struct Spark;

impl Drop for Spark {
    fn drop(&mut self) {
        panic!("as it went out");
    }
}

#[node]
fn strike() -> Spark {
    Spark
}

flow! {
    Fuse() {
        start >> strike >> end;
    }
}

/// The values of a flow are dropped at its end, when it is at no node any more.
#[tokio::test]
async fn a_panic_at_the_end_of_a_flow_is_one_of_the_flow() {
    let error = Fuse::new().run(FuseInput {}).await.unwrap_err();
    let FlowError::Panicked { path, message } = &error else {
        panic!("{error:?}")
    };
    assert_eq!((&**path, &**message), ("fuse", "as it went out"));
}

#[node]
fn explode(reason: &str) {
    panic!("because of {reason}");
}

#[node(writes = reason)]
fn give_reason() -> String {
    "a reason".into()
}

flow! {
    Innermost() {
        start >> give_reason >> explode >> end;
    }
}

flow! {
    Middle() {
        start >> give_reason >> Innermost >> end;
        Innermost - "error" >> end("handled");
    }
}

flow! {
    Outermost() {
        node middle: Middle = Middle::new() with retry(attempts = 3);
        start >> give_reason >> middle;
        middle - "default" >> end;
        middle - "handled" >> end("handled");
        middle - "error" >> end("failed");
    }
}

#[tokio::test]
async fn a_panic_names_its_path_in_nested_flows() {
    let error = Outermost::new()
        .run(OutermostInput::builder().build())
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "node `outermost.middle.innermost.explode` panicked: because of a reason"
    );
    let input = OutermostInput::builder().build();
    let error = Outermost::new()
        .run_with(input, RunOptions::new())
        .await
        .unwrap_err();
    assert_eq!(error.path(), "outermost.middle.innermost.explode");
}

#[node]
fn explode_oddly() {
    std::panic::panic_any(5);
}

flow! {
    ExplodesOddly() {
        start >> explode_oddly >> end;
    }
}

#[tokio::test]
async fn a_panic_may_have_no_message() {
    let input = ExplodesOddlyInput::builder().build();
    let error = ExplodesOddly::new().run(input).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "node `explodes_oddly.explode_oddly` panicked: the panic has no message"
    );
}

#[derive(Action, Serialize, Deserialize)]
enum Spin {
    Again,
    Stop,
}

#[node(writes = rounds, actions = Spin)]
fn spin(rounds: Option<&u64>) -> (u64, Spin) {
    let rounds = rounds.map_or(1, |rounds| rounds + 1);
    (
        rounds,
        if rounds == u64::MAX {
            Spin::Stop
        } else {
            Spin::Again
        },
    )
}

flow! {
    Spins() {
        start >> spin;
        spin - "again" >> spin;
        spin - "stop" >> end;
    }
}

#[tokio::test]
async fn a_run_takes_no_more_steps_than_its_budget() {
    let recorder = Recorder::shared();
    let options = RunOptions::new().step_budget(5).observer(recorder.clone());
    let error = Spins::new()
        .run_with(SpinsInput::builder().build(), options)
        .await
        .unwrap_err();
    assert!(
        matches!(error, FlowError::StepLimit { limit: 5, .. }),
        "{error:?}"
    );
    assert_eq!(error.path(), "spins.spin");
    assert_eq!(recorder.trace(), "spin spin spin spin spin");
}

#[tokio::test]
async fn a_run_takes_a_million_steps_at_most() {
    let error = Spins::new()
        .run(SpinsInput::builder().build())
        .await
        .unwrap_err();
    assert!(
        matches!(
            error,
            FlowError::StepLimit {
                limit: 1_000_000,
                ..
            }
        ),
        "{error:?}"
    );
}

flow! {
    Twice() {
        node first: give_reason;
        node second: give_reason;
        start >> first >> second >> end;
    }
}

flow! {
    TwiceAndOnce() {
        start >> Twice >> give_reason >> end;
    }
}

#[tokio::test]
async fn the_budget_counts_the_steps_of_nested_flows() {
    for (budget, path) in [
        (0, Some("twice_and_once.twice")),
        (1, Some("twice_and_once.twice.first")),
        (2, Some("twice_and_once.twice.second")),
        (3, Some("twice_and_once.give_reason")),
        (4, None),
    ] {
        let options = RunOptions::new().step_budget(budget);
        let input = TwiceAndOnceInput::builder().build();
        let ended = TwiceAndOnce::new().run_with(input, options).await;
        assert_eq!(ended.as_ref().err().map(FlowError::path), path, "{budget}");
    }
}

/// Notes everything that happens to it, and hangs.
struct Hangs;

#[node(writes = hung, retry(attempts = 3, wait = "1s"))]
impl Hangs {
    fn prep(&self, calls: &Calls) -> Calls {
        calls.clone()
    }

    async fn exec(&self, calls: &Calls) -> Result<u32, Broken> {
        let _guard = DropGuard(calls.clone());
        calls.note("exec");
        pending().await
    }

    fn exec_fallback(&self, calls: &Calls) -> u32 {
        calls.note("fallback");
        0
    }
}

flow! {
    Waits(calls: Calls) -> (hung: u32) {
        node hangs: Hangs = Hangs;
        start >> hangs >> end;
    }
}

flow! {
    WaitsInside(calls: Calls) -> (hung: u32) {
        start >> give_reason >> Waits >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_node_is_dropped_and_neither_retried_nor_replaced() {
    let (calls, token) = (Calls::default(), CancellationToken::new());
    let input = WaitsInsideInput::builder().calls(calls.clone()).build();
    let options = RunOptions::new().cancellation(token.clone());
    let run = tokio::spawn(async move { WaitsInside::new().run_with(input, options).await });
    sleep(Duration::from_secs(3600)).await;
    assert_eq!(calls.all(), ["exec"]);
    token.cancel();
    let error = run.await.unwrap().unwrap_err();
    assert!(matches!(error, FlowError::Cancelled { .. }), "{error:?}");
    assert_eq!(
        error.to_string(),
        "the run was cancelled at `waits_inside.waits.hangs`"
    );
    assert_eq!(calls.all(), ["exec", "dropped"]);
}

#[tokio::test]
async fn a_run_that_is_cancelled_before_it_begins_does_nothing() {
    let (calls, token) = (Calls::default(), CancellationToken::new());
    token.cancel();
    let input = WaitsInput::builder().calls(calls.clone()).build();
    let options = RunOptions::new().cancellation(token);
    let error = Waits::new().run_with(input, options).await.unwrap_err();
    assert_eq!(error.to_string(), "the run was cancelled at `waits`");
    assert_eq!(calls.count(), 0);
}

#[node(retry(attempts = 2, wait = "1h"))]
fn busy(calls: &Calls) -> Result<u32, Broken> {
    calls.note("busy");
    Err(Broken("busy"))
}

flow! {
    Retries(calls: Calls) -> (busy: Option<u32>) {
        start >> busy >> end;
        busy - "error" >> end("given_up");
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_is_cancelled_while_it_waits_for_the_next_attempt() {
    let (calls, token, began) = (Calls::default(), CancellationToken::new(), Instant::now());
    let input = RetriesInput::builder().calls(calls.clone()).build();
    let options = RunOptions::new().cancellation(token.clone());
    let cancel = async {
        sleep(Duration::from_secs(60)).await;
        token.cancel();
    };
    let flow = Retries::new();
    let (ended, ()) = tokio::join!(flow.run_with(input, options), cancel);
    assert_eq!(ended.unwrap_err().path(), "retries.busy");
    assert_eq!(began.elapsed(), Duration::from_secs(60));
    assert_eq!(calls.count(), 1);
}

#[tokio::test]
async fn dropping_the_run_drops_the_node() {
    let calls = Calls::default();
    let flow = WaitsInside::new();
    let mut run = Box::pin(flow.run(WaitsInsideInput::builder().calls(calls.clone()).build()));
    let poll = std::future::poll_fn(|cx| Poll::Ready(run.as_mut().poll(cx).is_pending()));
    assert!(poll.await);
    assert_eq!(calls.all(), ["exec"]);
    drop(run);
    assert_eq!(calls.all(), ["exec", "dropped"]);
}

/// Work that a node has started elsewhere learns of the cancellation from its context.
#[node]
async fn delegates(cx: &Context, calls: &Calls) {
    calls.note(cx.is_cancelled());
    cx.cancelled().await;
    calls.note("not reached: the node is dropped");
}

flow! {
    Delegates(calls: Calls) {
        start >> delegates >> end;
    }
}

#[node]
fn cancels_its_own_run(cx: &Context, token: &CancellationToken, calls: &Calls) {
    calls.note(cx.is_cancelled());
    token.cancel();
    calls.note(cx.is_cancelled());
}

#[node]
async fn never_reached(calls: &Calls) {
    yield_now().await;
    calls.note("reached");
}

flow! {
    CancelsItself(calls: Calls, token: CancellationToken) {
        start >> cancels_its_own_run >> never_reached >> end;
    }
}

flow! {
    CancelsAround(calls: Calls, token: CancellationToken) {
        start >> CancelsInside >> never_reached >> end;
    }
}

flow! {
    CancelsInside(calls: Calls, token: CancellationToken) {
        start >> cancels_its_own_run >> end;
    }
}

#[tokio::test]
async fn a_nested_flow_that_has_ended_is_not_where_the_run_was_cancelled() {
    let token = CancellationToken::new();
    let input = CancelsAroundInput::builder()
        .calls(Calls::default())
        .token(token.clone())
        .build();
    let options = RunOptions::new().cancellation(token);
    let ended = CancelsAround::new().run_with(input, options).await;
    assert_eq!(ended.unwrap_err().path(), "cancels_around.never_reached");
}

#[tokio::test(start_paused = true)]
async fn a_node_may_ask_whether_its_run_is_cancelled() {
    let (calls, token) = (Calls::default(), CancellationToken::new());
    let input = CancelsItselfInput::builder()
        .calls(calls.clone())
        .token(token.clone())
        .build();
    let options = RunOptions::new().cancellation(token);
    let error = CancelsItself::new()
        .run_with(input, options)
        .await
        .unwrap_err();
    assert_eq!(error.path(), "cancels_itself.never_reached");
    assert_eq!(calls.all(), ["false", "true"]);

    let calls = Calls::default();
    let flow = Delegates::new();
    let run = flow.run(DelegatesInput::builder().calls(calls.clone()).build());
    let run = tokio::time::timeout(Duration::from_secs(1), run);
    advance(Duration::ZERO).await;
    assert!(
        run.await.is_err(),
        "a run without a token cannot be cancelled"
    );
    assert_eq!(calls.all(), ["false"]);
}

flow_law::law! {
    nodes: [charge, apologise, charge_later, size, strike, explode, give_reason, explode_oddly, spin, busy, delegates, cancels_its_own_run, never_reached],
    flows: [
        Charges,
        ChargesOrFails,
        GoesOnAfterAnError,
        Shop,
        Street,
        Explodes(Explodes::builder().bomb(Bomb("exec")).build()) with [Bomb = Bomb("exec")],
        Fuse,
        Innermost,
        Middle,
        Outermost,
        ExplodesOddly,
        Spins,
        Twice,
        TwiceAndOnce,
        Waits with [Hangs = Hangs],
        WaitsInside with [Hangs = Hangs],
        Retries,
        Delegates,
    ],
    not_json: [CancelsItself, CancelsAround, CancelsInside],
}
