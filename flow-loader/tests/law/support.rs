//! Runs a flow on each engine, and keeps what it did.

use std::cell::RefCell;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use flow_durable::{
    Durable, MemoryStore, Record, Runtime, RuntimeOptions, SignalOptions, StartOptions,
};
use flow_loader::{Format, LoadedFlow, Registry, load};
use flow_runtime::engine::{
    AnyFlow, Direct, Observed, Path, Run, RunError, Saved, SignalTypes, run_any,
};
use flow_runtime::{
    Event, EventKind, Observer, Question, RunId, RunOptions, SignalSender, TakesSignals,
};
use flow_spec::FlowDocument;
use serde_json::Value;
use tokio::time::Instant;

/// A run without options takes no longer than this: it gets no signals.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// The flow in this JSON. Loaded again from its structure, as a runtime does with the versions of its
/// executions, it has the same structure.
pub(crate) fn loaded(text: &str, registry: &Registry) -> LoadedFlow {
    let load =
        |text: &str| load(text, Format::Json, registry).unwrap_or_else(|error| panic!("{error}"));
    let loaded = load(text);
    assert_eq!(load(loaded.structure()).structure(), loaded.structure());
    loaded
}

/// The events of a run, without its id.
#[derive(Clone, Default)]
struct Trace(Arc<Mutex<Vec<String>>>);

impl Observer for Trace {
    fn on_event(&self, event: &Event<'_>) {
        let kind = match event.kind() {
            EventKind::NodeStarted => "started".to_owned(),
            EventKind::NodeFinished { action } => format!("finished {action}"),
            EventKind::FlowEnded { end } => format!("ended {end}"),
            EventKind::NodeFailed { error } => format!("failed: {error:#}"),
            EventKind::RunFailed { error } => format!("run failed: {error:#}"),
            other => format!("{other:?}"),
        };
        let line = format!("{}: {kind}", event.path());
        self.0.lock().unwrap().push(line);
    }

    fn on_loop(&self, _: RunId, path: Path<'_>, items: usize) {
        let line = format!("{path}: a loop of {items}");
        self.0.lock().unwrap().push(line);
    }
}

/// What came of a run: its output or its error, and what happened on the way.
#[derive(Debug, PartialEq)]
pub(crate) struct Ran {
    pub(crate) ended: Result<Value, String>,
    pub(crate) happened: Vec<String>,
    /// What its nodes have done, in this order.
    pub(crate) done: Vec<String>,
}

thread_local! {
    /// What the nodes of the run on this thread have done.
    static DONE: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Called by a node that has done something that the runs are compared for.
pub(crate) fn did(entry: String) {
    DONE.with_borrow_mut(|done| done.push(entry));
}

/// What was done since the last call.
pub(crate) fn done() -> Vec<String> {
    DONE.take()
}

fn text(ended: Result<Saved, RunError>) -> Result<Value, String> {
    match ended {
        Ok(output) => Ok(output.into_json()),
        Err(RunError::Failed(failed)) => Err(format!("{failed:#}")),
        Err(RunError::Input(error)) => Err(error.to_string()),
        Err(RunError::Output(unstorable)) => Err(unstorable.to_string()),
    }
}

/// Runs a flow without options.
pub(crate) async fn plain(flow: &dyn AnyFlow<Direct>, input: &Value) -> Ran {
    let input = Saved::from_json(input.clone()).unwrap();
    let engine = Direct::new();
    let run = run_any(flow, &engine, input);
    let ended = match tokio::time::timeout(LONGEST, run).await {
        Ok(ended) => text(ended),
        Err(_) => Err("it waits forever".to_owned()),
    };
    Ran {
        ended,
        happened: Vec::new(),
        done: done(),
    }
}

/// What is sent to a run: under `signals`, each with its name and its body.
fn sent(answers: &Value) -> Vec<(String, Value)> {
    let signals = answers["signals"].as_array().into_iter().flatten();
    let signals = signals.map(|one| (one[0].as_str().unwrap().to_owned(), one[1].clone()));
    signals.collect()
}

/// The signals of a flow that an engine knows only as one of any type.
struct Known<'a, F>(&'a F);

impl<F: for<'r> AnyFlow<Observed<'r>>> TakesSignals for Known<'_, F> {
    fn signals(&self) -> SignalTypes {
        let document = FlowDocument::parse_spec(self.0.structure()).unwrap();
        let name = self.0.namespace().to_owned();
        SignalTypes::new(&document, |path| self.0.external(&format!("{name}.{path}")))
    }
}

/// Runs a flow with an observer, and somebody who answers with what `answers` has for the path.
pub(crate) async fn observed<F>(flow: &F, input: &Value, answers: &Value) -> Ran
where
    F: for<'r> AnyFlow<Observed<'r>>,
{
    let trace = Trace::default();
    let (answers, signals) = (answers.clone(), answers.clone());
    let options = RunOptions::answer(move |question: &Question| answers[question.path()].clone());
    let sender = SignalSender::new(&Known(flow));
    for (name, body) in sent(&signals) {
        sender.send_json(&name, body).unwrap();
    }
    let options = options.signals(&sender);
    let run = Run::numbered(options.observer(Arc::new(trace.clone())));
    let input = Saved::from_json(input.clone()).unwrap();
    let ended = text(run_any(flow, &Observed::new(&run), input).await);
    let happened = trace.0.lock().unwrap().clone();
    Ran {
        ended,
        happened,
        done: done(),
    }
}

/// Runs a flow durably, and keeps its journal.
pub(crate) async fn durable(
    flow: Arc<dyn AnyFlow<Durable>>,
    input: &Value,
    answers: &Value,
) -> Ran {
    durable_until(flow, input, answers, None).await
}

/// Runs a flow durably, and keeps its journal. The execution is cancelled after this time.
pub(crate) async fn durable_until(
    flow: Arc<dyn AnyFlow<Durable>>,
    input: &Value,
    answers: &Value,
    cancelled: Option<Duration>,
) -> Ran {
    let began = Instant::now();
    let clock = move || SystemTime::UNIX_EPOCH + Duration::from_secs(1_000) + began.elapsed();
    let runtime = Runtime::with_options(MemoryStore::new(), RuntimeOptions::new().clock(clock));
    let name = flow.name().to_owned();
    runtime.register(flow).unwrap();
    let started = runtime
        .executions()
        .start_json(&name, input.clone(), StartOptions::new())
        .await;
    let mut execution = match started {
        Ok(execution) => execution,
        Err(error) => {
            return Ran {
                ended: Err(error.to_string()),
                happened: Vec::new(),
                done: done(),
            };
        }
    };
    for (name, body) in sent(answers) {
        let (id, options) = (execution.id(), SignalOptions::new());
        let sent = runtime.executions().signal_json(id, &name, body, options);
        sent.await.unwrap();
    }
    if let Some(after) = cancelled {
        tokio::time::sleep(after).await;
        // It may be over.
        let _ = runtime.executions().cancel(execution.id(), "enough").await;
        execution = execution.refreshed().await.unwrap();
    }
    let mut halted = None;
    while !execution.status().is_over() {
        execution = match execution.settled().await {
            Ok(settled) => settled,
            Err(error) => {
                halted = Some(
                    error
                        .to_string()
                        .replace(&execution.id().to_string(), "<id>"),
                );
                break;
            }
        };
        for question in execution.questions().await.unwrap() {
            let answer = answers[question.path()].clone();
            runtime
                .executions()
                .resume(question.token(), answer)
                .await
                .unwrap();
        }
        execution = execution.refreshed().await.unwrap();
    }
    let record = |record: Record| {
        let at = (
            &record.path,
            &record.step,
            record.visit,
            record.item,
            record.attempt,
        );
        format!(
            "{:?} {:?} at {at:?}, {} ms: {}",
            record.seq, record.kind, record.at_ms, record.payload
        )
    };
    let journal = execution.journal().await.unwrap();
    let ended = match halted {
        Some(halted) => Err(halted),
        None => (execution.output_json().unwrap())
            .ok_or_else(|| format!("{:?}: {:?}", execution.status(), execution.reason())),
    };
    Ran {
        ended,
        happened: journal.into_iter().map(record).collect(),
        done: done(),
    }
}

/// Runs a flow in every way.
pub(crate) async fn all<F>(flow: F, input: &Value, answers: &Value) -> [Ran; 3]
where
    F: AnyFlow<Direct> + AnyFlow<Durable> + for<'r> AnyFlow<Observed<'r>> + 'static,
{
    [
        plain(&flow, input).await,
        observed(&flow, input, answers).await,
        durable(Arc::new(flow), input, answers).await,
    ]
}
