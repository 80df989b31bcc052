//! Plain runs.

use std::sync::Arc;

use flow_otel::RunObserver;
use flow_runtime::prelude::*;
use opentelemetry::trace::{SpanId, TraceContextExt as _, Tracer as _, TracerProvider as _};

use crate::support::{Kept, attribute, tree};

#[node(retry(attempts = 3, wait = "10ms"), writes = page)]
async fn fetch(cx: &Context, url: &str) -> Result<String, String> {
    match cx.attempt() {
        2 => Ok(format!("the page {url}")),
        attempt => Err(format!("attempt {attempt} of {url}")),
    }
}

#[node]
fn count(page: &str) -> usize {
    page.len()
}

#[node(writes = checked)]
fn check(number: u32) -> Result<u32, String> {
    match number {
        3 => Err("3 is refused".to_owned()),
        number => Ok(number),
    }
}

flow! {
    Pages(url: String) -> (count: usize) {
        start >> fetch >> count >> end;
    }
}

flow! {
    Reads(url: String, numbers: Vec<u32>) -> (count: Option<usize>) {
        node all: for number in numbers { check };
        start >> Pages >> all >> end;
        all - "error" >> end("refused");
    }
}

async fn run(kept: &Kept, numbers: Vec<u32>) {
    let observer = Arc::new(RunObserver::new(&kept.telemetry));
    let input = ReadsInput {
        url: "example.org".into(),
        numbers,
    };
    let options = RunOptions::new().observer(observer);
    Reads::new().run_with(input, options).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_run_its_nodes_and_their_attempts_are_spans() {
    let kept = Kept::new();
    run(&kept, vec![1, 3, 5]).await;
    let spans = kept.take_spans();
    assert_eq!(
        tree(&spans),
        "\
reads status=completed end=refused
  reads.pages attempts=1 action=default
    reads.pages.fetch attempts=3 action=default
      attempt attempt=0 ! attempt 0 of example.org
      attempt attempt=1 ! attempt 1 of example.org
      attempt attempt=2
    reads.pages.count attempts=1 action=default
  reads.all attempts=1 action=error ! node `reads.all[1]` failed after 1 attempt: 3 is refused
    reads.all[] attempts=1 action=default
    reads.all[] attempts=1 ! node `reads.all[1]` failed after 1 attempt: 3 is refused
"
    );
    let trace = spans[0].span_context.trace_id();
    for span in &spans {
        assert_eq!(span.span_context.trace_id(), trace);
        assert_eq!(attribute(span, "flow.names.version"), "1");
        assert!(span.end_time >= span.start_time);
    }
    let metrics = kept.metrics();
    assert_eq!(
        metrics,
        [
            "flow.attempts.failed flow.name=reads flow.node=reads.all[] 1",
            "flow.attempts.failed flow.name=reads flow.node=reads.pages.fetch 2",
            "flow.retries flow.name=reads flow.node=reads.pages.fetch 2",
            "flow.run.duration flow.name=reads flow.status=completed 1",
            "flow.runs.ended flow.name=reads flow.status=completed 1",
            "flow.runs.started flow.name=reads 1",
            "flow.step.duration flow.action=default flow.name=reads flow.node=reads.all[] 1",
            "flow.step.duration flow.action=default flow.name=reads flow.node=reads.pages 1",
            "flow.step.duration flow.action=default flow.name=reads flow.node=reads.pages.count 1",
            "flow.step.duration flow.action=default flow.name=reads flow.node=reads.pages.fetch 1",
            "flow.step.duration flow.action=error flow.name=reads flow.node=reads.all 1",
            "flow.step.duration flow.action=error flow.name=reads flow.node=reads.all[] 1",
        ]
    );
}

/// The span of a request is around that of the run which serves it.
#[tokio::test(start_paused = true)]
async fn a_run_is_in_the_span_of_the_program() {
    let kept = Kept::new();
    let tracer = kept.tracers.tracer("server");
    let request = opentelemetry::Context::current_with_span(tracer.start("GET /pages"));
    let around = request.span().span_context().clone();
    {
        let _guard = request.attach();
        run(&kept, vec![]).await;
    }
    let spans = kept.take_spans();
    let root = spans.iter().find(|span| span.name == "reads").unwrap();
    assert_eq!(root.parent_span_id, around.span_id());
    assert!(
        spans
            .iter()
            .all(|span| span.span_context.trace_id() == around.trace_id())
    );
    assert_ne!(root.span_context.span_id(), SpanId::INVALID);
}

#[node]
async fn forever() {
    std::future::pending::<()>().await;
}

flow! {
    Stuck() {
        start >> forever >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_that_nobody_waits_for_is_exported_as_dropped() {
    let kept = Kept::new();
    let observer = Arc::new(RunObserver::new(&kept.telemetry));
    let options = RunOptions::new().observer(observer);
    let flow = Stuck::new();
    let run = flow.run_with(StuckInput {}, options);
    let time = std::time::Duration::from_secs(1);
    assert!(tokio::time::timeout(time, run).await.is_err());
    assert_eq!(
        tree(&kept.take_spans()),
        "stuck status=dropped\n  stuck.forever attempts=1 dropped=true\n"
    );
}

flow! {
    Hurried(url: String) -> (count: Option<usize>) {
        node outcome: first { Stuck => "stuck", fetch >> count => "read", wait(1h) => "late" };
        start >> outcome;
        outcome - "read" >> wait(1s) >> end;
        outcome - "stuck" >> end("stuck");
        outcome - "late" >> end("late");
    }
}

#[tokio::test(start_paused = true)]
async fn the_other_branches_of_a_race_are_dropped_when_it_is_over() {
    let kept = Kept::new();
    let observer = Arc::new(RunObserver::new(&kept.telemetry));
    let options = RunOptions::new().observer(observer);
    let input = HurriedInput {
        url: "example.org".into(),
    };
    Hurried::new().run_with(input, options).await.unwrap();
    let spans = kept.take_spans();
    assert_eq!(
        tree(&spans),
        "\
hurried status=completed end=default
  hurried.outcome attempts=1 action=read
    hurried.stuck attempts=1 dropped=true
      hurried.stuck.forever attempts=1 dropped=true
    hurried.fetch attempts=3 action=default
      attempt attempt=0 ! attempt 0 of example.org
      attempt attempt=1 ! attempt 1 of example.org
      attempt attempt=2
    hurried.wait attempts=1 dropped=true
    hurried.count attempts=1 action=default
  hurried.wait_2 attempts=1 action=default
"
    );
    let named = |name: &str| spans.iter().find(|span| span.name == name).unwrap();
    let race = named("hurried.outcome");
    for inner in ["hurried.stuck", "hurried.stuck.forever", "hurried.wait"] {
        assert_eq!(named(inner).end_time, race.end_time);
    }
    let dropped =
        "flow.step.duration flow.action=dropped flow.name=hurried flow.node=hurried.wait 1";
    assert!(kept.metrics().contains(&dropped.to_owned()));
}

#[node(writes = receipt)]
fn charge(amount: &u32) -> u32 {
    *amount
}

#[node(retry(attempts = 2, wait = "10ms"))]
fn refund(cx: &Context, receipt: u32) -> Result<(), String> {
    match cx.attempt() {
        0 => Err(format!("{receipt} is not there yet")),
        _ => Ok(()),
    }
}

#[node]
fn ship() -> Result<(), String> {
    Err("no parcel".to_owned())
}

flow! {
    Payment(amount: u32) {
        node charge: charge with undo = refund;
        start >> charge >> end;
    }
}

flow! {
    pub(crate) Shipment(amount: u32) {
        start >> Payment >> ship >> end;
        ship - "error" >> undo >> end("refused");
    }
}

/// The spans of a shipment that is refused.
pub(crate) const UNDONE: &str = "\
shipment status=completed end=refused
  shipment.payment attempts=1 action=default
    shipment.payment.charge attempts=1 action=default
  shipment.ship attempts=1 action=error ! node `shipment.ship` failed after 1 attempt: no parcel
  shipment.undo attempts=1 action=default
  shipment.payment.charge!undo attempts=2 action=default undo=true
    attempt attempt=0 ! 3 is not there yet
    attempt attempt=1
";

#[tokio::test(start_paused = true)]
async fn a_visit_that_is_undone_has_a_second_span_with_a_link_to_its_own() {
    let kept = Kept::new();
    let observer = Arc::new(RunObserver::new(&kept.telemetry));
    let options = RunOptions::new().observer(observer);
    let input = ShipmentInput { amount: 3 };
    Shipment::new().run_with(input, options).await.unwrap();
    let spans = kept.take_spans();
    assert_eq!(tree(&spans), UNDONE);
    let named = |name: &str| spans.iter().find(|span| span.name == name).unwrap();
    let (visit, undo) = (
        named("shipment.payment.charge"),
        named("shipment.payment.charge!undo"),
    );
    let links = undo.links.iter().map(|link| link.span_context.span_id());
    assert_eq!(links.collect::<Vec<_>>(), [visit.span_context.span_id()]);
    assert!(visit.links.is_empty());
    assert_eq!(attribute(undo, "flow.step"), "shipment.payment.charge!undo");
    assert_eq!(attribute(visit, "flow.undo"), "");
    let took = "flow.step.duration flow.action=default flow.name=shipment flow.node=shipment.payment.charge!undo 1";
    assert!(kept.metrics().contains(&took.to_owned()));
}

#[node(writes = never)]
fn fails() -> Result<u32, String> {
    Err("no".to_owned())
}

flow! {
    Fails() -> (never: u32) {
        start >> fails >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_that_fails_has_the_error_of_its_node() {
    let kept = Kept::new();
    let observer = Arc::new(RunObserver::new(&kept.telemetry));
    let options = RunOptions::new().observer(observer);
    assert!(Fails::new().run_with(FailsInput {}, options).await.is_err());
    let error = "node `fails.fails` failed after 1 attempt: no";
    assert_eq!(
        tree(&kept.take_spans()),
        format!("fails status=failed ! {error}\n  fails.fails attempts=1 ! {error}\n")
    );
}
