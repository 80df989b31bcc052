//! Executions: pauses, processes that stop, copies, and errors.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, UNIX_EPOCH};

use flow_durable::{
    EventFilter, Execution, MemoryStore, RecordKind, Runtime, RuntimeOptions, StartOptions, Token,
};
use flow_otel::{FollowError, Follower, Telemetry};
use flow_runtime::prelude::*;
use opentelemetry_sdk::metrics::SdkMeterProvider;
use opentelemetry_sdk::trace::SdkTracerProvider;
use serde::{Deserialize, Serialize};

use crate::plain::{Shipment, ShipmentInput, UNDONE};
use crate::support::{Kept, attribute, tree};

/// Whether it may go out.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[node(human = "May `{text}` go out?")]
pub(crate) enum Review {
    Yes,
    No,
}

#[node(retry(attempts = 2), writes = text)]
fn draft(cx: &Context, topic: &str) -> Result<String, String> {
    match cx.attempt() {
        0 => Err("no idea".to_owned()),
        _ => Ok(format!("all about {topic}")),
    }
}

#[node]
fn length(text: &str) -> usize {
    text.len()
}

#[node(writes = words)]
fn words(text: &str) -> Result<usize, String> {
    Err(format!("`{text}` is too short"))
}

flow! {
    Inner(topic: String) -> (text: String) {
        start >> draft >> end;
    }
}

flow! {
    Article(topic: String) -> (length: Option<usize>) {
        node counted: [length, words];
        start >> Inner >> Review;
        Review - "yes" >> counted >> end;
        Review - "no" >> end("refused");
        counted - "error" >> end("short");
    }
}

fn runtime(store: &Arc<MemoryStore>) -> Runtime {
    let runtime = Runtime::new(store.clone());
    runtime.register(Article::new()).unwrap();
    runtime
}

async fn started(runtime: &Runtime) -> (Execution, Token) {
    let input = ArticleInput {
        topic: "ants".into(),
    };
    let execution = runtime
        .executions()
        .start::<Article>(input, StartOptions::new());
    let execution = execution.await.unwrap().settled().await.unwrap();
    let questions = execution.questions().await.unwrap();
    (execution, questions[0].token())
}

fn all() -> EventFilter {
    EventFilter::new().from_start().until_now()
}

const WHOLE: &str = "\
article status=completed end=short
  article.inner attempts=1 action=default
    article.inner.draft attempts=2 action=default
      attempt attempt=0 ! no idea
      attempt attempt=1
  article.review attempts=1 action=yes (flow.question.asked) (flow.question.answered)
  article.counted attempts=1 action=error ! node `article.words` failed after 1 attempt: `all about ants` is too short
    article.length attempts=1 action=default
    article.words attempts=1 ! node `article.words` failed after 1 attempt: `all about ants` is too short
";

/// What one process exports before it stops and the next one after that are one trace.
#[tokio::test(start_paused = true)]
async fn an_execution_in_two_processes_is_one_trace() {
    let store = Arc::new(MemoryStore::new());
    let (first, kept) = (runtime(&store), Kept::new());
    let (execution, token) = started(&first).await;
    let mut follower = Follower::new(first.all_owners(), &kept.telemetry);
    follower.follow(all()).await.unwrap();
    let offset = follower.offset().unwrap();
    let mut spans = kept.take_spans();
    assert_eq!(spans.len(), 4, "{}", tree(&spans));
    assert!(
        kept.metrics().contains(
            &"flow.questions.open flow.name=Article flow.node=article.review 1".to_owned()
        )
    );
    drop(follower);
    first.shut_down().await;

    // Another process, with another exporter, and without the flow in the one that follows.
    let (second, viewer, later) = (runtime(&store), Runtime::new(store.clone()), Kept::new());
    let execution = second.executions().get(execution.id()).await.unwrap();
    second
        .executions()
        .resume(token, Review::Yes)
        .await
        .unwrap()
        .settled()
        .await
        .unwrap();
    let mut follower = Follower::new(viewer.all_owners(), &later.telemetry);
    let since = EventFilter::new().from_offset(offset).until_now();
    follower.follow(since).await.unwrap();
    spans.extend(later.take_spans());
    assert_eq!(tree(&spans), WHOLE);
    let id = execution.id();
    for span in &spans {
        assert_eq!(
            span.span_context.trace_id().to_bytes(),
            *id.as_uuid().as_bytes()
        );
    }
    let root = spans.iter().find(|span| span.name == "article").unwrap();
    assert_eq!(attribute(root, "flow.execution.id"), id.to_string());
    assert_eq!(attribute(root, "flow.name"), "Article");
    let metrics = later.metrics();
    for expected in [
        "flow.questions.open flow.name=Article flow.node=article.review 0",
        "flow.runs.ended flow.name=Article flow.status=completed 1",
    ] {
        assert!(metrics.contains(&expected.to_owned()), "{metrics:#?}");
    }
    let started = metrics
        .iter()
        .any(|line| line.starts_with("flow.runs.started"));
    assert!(!started, "the first process has counted it");

    // All of it in one go is the same.
    let once = Kept::new();
    let mut follower = Follower::new(viewer.all_owners(), &once.telemetry);
    follower.follow(all()).await.unwrap();
    let once = once.take_spans();
    assert_eq!(tree(&once), WHOLE);
    let ids = |spans: &[opentelemetry_sdk::trace::SpanData]| {
        let mut ids: Vec<_> = spans
            .iter()
            .map(|span| span.span_context.span_id().to_string())
            .collect();
        ids.sort();
        ids
    };
    assert_eq!(ids(&once), ids(&spans));
    assert!(follower.offset().unwrap() > offset);
}

flow! {
    Asked(topic: String, text: String) -> (text: String) {
        node outcome: first { Review, wait(2s) >> draft => "drafted" };
        start >> outcome;
        outcome - "yes" >> end;
        outcome - "no" >> end;
        outcome - "drafted" >> wait(1h) >> end("drafted");
    }
}

/// The question of a branch that is not the first is not open any more when the race is over.
#[tokio::test(start_paused = true)]
async fn the_other_branches_of_a_race_are_dropped_when_it_is_over() {
    let store = Arc::new(MemoryStore::new());
    let began = tokio::time::Instant::now();
    let clock = move || UNIX_EPOCH + Duration::from_secs(1_800_000_000) + began.elapsed();
    let options = RuntimeOptions::new().clock(clock);
    let (runtime, kept) = (Runtime::with_options(store, options), Kept::new());
    runtime.register(Asked::new()).unwrap();
    let input = AskedInput {
        topic: "ants".into(),
        text: "nothing yet".into(),
    };
    let execution = runtime
        .executions()
        .start::<Asked>(input, StartOptions::new());
    execution.await.unwrap().settled().await.unwrap();
    let mut follower = Follower::new(runtime.all_owners(), &kept.telemetry);
    let open =
        |open: u32| format!("flow.questions.open flow.name=Asked flow.node=asked.review {open}");
    follower.follow(all()).await.unwrap();
    assert!(kept.metrics().contains(&open(1)));

    tokio::time::sleep(Duration::from_secs(3)).await;
    follower.follow(all()).await.unwrap();
    assert!(kept.metrics().contains(&open(0)));
    // The run itself goes on.
    assert_eq!(
        tree(&kept.take_spans()),
        "\
asked.outcome attempts=1 action=drafted
  asked.wait attempts=1 action=default
  asked.review attempts=1 dropped=true (flow.question.asked)
  asked.draft attempts=2 action=default
    attempt attempt=0 ! no idea
    attempt attempt=1
"
    );
}

/// The customer has changed their mind.
#[node(signal)]
#[derive(serde::Serialize, serde::Deserialize)]
struct CancelRequest {
    reason: String,
}

/// The parcel is there.
#[node(signal)]
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
struct Delivered {
    at: u32,
}

flow! {
    Order() -> (reason: Option<String>, at: Option<u32>) {
        node outcome: first { CancelRequest => "cancelled", Delivered => "delivered" };
        start >> outcome;
        outcome - "cancelled" >> end("cancelled");
        outcome - "delivered" >> end;
    }
}

/// The signal that no step took is not awaited any more when the race is over, and no body is exported.
#[tokio::test(start_paused = true)]
async fn a_signal_that_is_awaited_and_taken_is_seen() {
    let (runtime, kept) = (Runtime::new(MemoryStore::new()), Kept::new());
    runtime.register(Order::new()).unwrap();
    let executions = runtime.executions();
    let order = executions.start::<Order>(OrderInput {}, StartOptions::new());
    let order = order.await.unwrap();
    while order.refreshed().await.unwrap().status() != flow_durable::Status::Paused {
        tokio::task::yield_now().await;
    }
    let mut follower = Follower::new(runtime.all_owners(), &kept.telemetry);
    let awaited = |node: &str, awaited: u32| {
        format!("flow.signals.awaited flow.name=Order flow.node=order.{node} {awaited}")
    };
    follower.follow(all()).await.unwrap();
    let metrics = kept.metrics();
    for node in ["cancel_request", "delivered"] {
        assert!(metrics.contains(&awaited(node, 1)), "{metrics:#?}");
    }

    let request = CancelRequest {
        reason: "too late".into(),
    };
    let options = flow_durable::SignalOptions::new();
    executions
        .signal(order.id(), request, options)
        .await
        .unwrap();
    order.settled().await.unwrap();
    follower.follow(all()).await.unwrap();
    let metrics = kept.metrics();
    for node in ["cancel_request", "delivered"] {
        assert!(metrics.contains(&awaited(node, 0)), "{metrics:#?}");
    }
    let spans = kept.take_spans();
    assert_eq!(
        tree(&spans),
        "\
order status=completed end=cancelled
  order.outcome attempts=1 action=cancelled
    order.cancel_request attempts=1 action=default (flow.signal.awaited) (flow.signal.received)
    order.delivered attempts=1 dropped=true (flow.signal.awaited)
"
    );
    let taken = spans
        .iter()
        .find(|span| span.name == "order.cancel_request");
    let event = &taken.unwrap().events.events[0];
    let name = &event.attributes[0];
    assert_eq!(
        (name.key.as_str(), name.value.as_str()),
        ("flow.signal.name", "CancelRequest".into())
    );
    assert!(!format!("{spans:?}").contains("too late"));
}

/// As in a plain run.
#[tokio::test(start_paused = true)]
async fn a_visit_that_is_undone_has_a_second_span() {
    let (runtime, kept) = (Runtime::new(MemoryStore::new()), Kept::new());
    runtime.register(Shipment::new()).unwrap();
    let input = ShipmentInput { amount: 3 };
    let executions = runtime.executions();
    let shipment = executions.start::<Shipment>(input, StartOptions::new());
    shipment.await.unwrap().settled().await.unwrap();
    let mut follower = Follower::new(runtime.all_owners(), &kept.telemetry);
    follower.follow(all()).await.unwrap();
    let spans = kept.take_spans();
    // The step `undo` and the undo node begin in the same millisecond.
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(&tree(&spans)), sorted(UNDONE));
    let undo = spans.iter().find(|span| span.name.ends_with("!undo"));
    assert_eq!(undo.unwrap().links.len(), 1);
}

/// What was copied was exported with the original.
#[tokio::test(start_paused = true)]
async fn a_copy_is_a_trace_with_a_link_to_the_original() {
    let store = Arc::new(MemoryStore::new());
    let (runtime, kept) = (runtime(&store), Kept::new());
    let (execution, _) = started(&runtime).await;
    let journal = execution.journal().await.unwrap();
    let drafted = journal
        .iter()
        .find(|record| record.kind == RecordKind::NodeFinished && record.path == "article.inner");
    let copy = runtime
        .executions()
        .copy(execution.id(), drafted.unwrap().seq)
        .await
        .unwrap();
    let copy = copy.settled().await.unwrap();
    runtime
        .executions()
        .cancel(copy.id(), "no longer needed")
        .await
        .unwrap();
    let mut follower = Follower::new(runtime.all_owners(), &kept.telemetry);
    follower.follow(all()).await.unwrap();
    let spans = kept.take_spans();
    let own: Vec<_> = spans
        .iter()
        .filter(|span| span.span_context.trace_id().to_bytes() == *copy.id().as_uuid().as_bytes())
        .cloned()
        .collect();
    assert_eq!(
        tree(&own),
        "article status=cancelled ! no longer needed\n  article.review attempts=1 dropped=true (flow.question.asked)\n"
    );
    let root = own.iter().find(|span| span.name == "article").unwrap();
    let [link] = &root.links.links[..] else {
        panic!("{:?}", root.links)
    };
    assert_eq!(
        link.span_context.trace_id().to_bytes(),
        *execution.id().as_uuid().as_bytes()
    );
}

#[derive(Clone, Default)]
struct Charge {
    bank_is_open: Arc<AtomicBool>,
}

#[node]
impl Charge {
    fn exec(&self, amount: &u64) -> Result<(), String> {
        let is_open = self.bank_is_open.load(Ordering::Relaxed);
        is_open.then_some(()).ok_or(format!("no bank for {amount}"))
    }
}

#[node]
fn booked(amount: &u64) {
    let _ = amount;
}

flow! {
    Pays(amount: u64) {
        node charge: Charge;
        start >> booked >> charge >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn what_failed_before_a_retry_is_exported_again_when_it_ends() {
    let (runtime, kept) = (Runtime::new(MemoryStore::new()), Kept::new());
    let charge = Charge::default();
    let flow = Pays::builder().charge(charge.clone()).build();
    runtime.register(flow).unwrap();
    let executions = runtime.executions();
    let input = PaysInput { amount: 3 };
    let started = executions.start::<Pays>(input, StartOptions::new()).await;
    let failed = started.unwrap().settled().await.unwrap();
    let mut follower = Follower::new(runtime.all_owners(), &kept.telemetry);
    follower.follow(all()).await.unwrap();
    let before = kept.take_spans();
    assert!(
        tree(&before).starts_with("pays status=failed"),
        "{}",
        tree(&before)
    );
    charge.bank_is_open.store(true, Ordering::Relaxed);
    let retried = executions.retry(failed.id()).await.unwrap();
    retried.settled().await.unwrap();
    follower.follow(all()).await.unwrap();
    let after = kept.take_spans();
    let text = tree(&after);
    assert!(text.starts_with("pays status=completed"), "{text}");
    let ids = |spans: &[opentelemetry_sdk::trace::SpanData], name: &str| {
        let of_name = spans.iter().filter(|span| span.name == name);
        of_name
            .map(|span| span.span_context.span_id())
            .collect::<Vec<_>>()
    };
    for name in ["pays", "pays.charge"] {
        assert_eq!(ids(&before, name), ids(&after, name), "{text}");
    }
    assert!(ids(&after, "pays.booked").is_empty(), "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_provider_with_its_own_ids_is_refused() {
    let tracers = SdkTracerProvider::builder()
        .with_simple_exporter(opentelemetry_sdk::trace::InMemorySpanExporter::default())
        .build();
    let telemetry = Telemetry::new(&tracers, &SdkMeterProvider::builder().build());
    let store = Arc::new(MemoryStore::new());
    let runtime = runtime(&store);
    started(&runtime).await;
    let mut follower = Follower::new(runtime.all_owners(), &telemetry);
    let error = follower.follow(all()).await.unwrap_err();
    assert!(matches!(error, FollowError::SpanIds));
    assert_eq!(
        error.to_string(),
        "the tracer provider has its own span ids: build it with `.with_id_generator(flow_otel::SpanIds::new())`"
    );
}
