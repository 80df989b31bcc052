//! The ways to run a flow, and what is kept of a run.

use std::collections::HashMap;
use std::str::FromStr as _;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use flow_durable::{
    Durable, Execution, ExecutionId, Record, Runtime, RuntimeError, RuntimeOptions, SignalOptions,
    StartOptions, Store,
};
use flow_runtime::engine::{
    AnyFlow, Direct, ExternalType, Observed, Run, RunError, Saved, SignalTypes, run_any,
};
use flow_runtime::{Event, EventKind, Observer, Question, RunOptions, SignalSender, TakesSignals};
use flow_spec::FlowDocument;
use regex::Regex;
use serde_json::Value;
use tokio::time::Instant;

use crate::dream::{Dice, Dream};

/// A run takes no more steps than this, so that a loop without end ends.
const STEPS: u64 = 300;

/// A run takes no longer than this. Time is paused, but a durable run looks at the clock each second
/// while it waits.
const LONGEST: Duration = Duration::from_secs(3 * 60 * 60);

/// A flow that every engine runs.
pub trait Everywhere: SomeWhere + AnyFlow<Durable> {}

impl<F: SomeWhere + AnyFlow<Durable>> Everywhere for F {}

/// A flow that the engines run which store nothing.
pub trait SomeWhere: AnyFlow<Direct> + for<'r> AnyFlow<Observed<'r>> {}

impl<F: AnyFlow<Direct> + for<'r> AnyFlow<Observed<'r>>> SomeWhere for F {}

/// A flow, by what runs it.
#[derive(Clone)]
pub enum Subject {
    /// Its values can be JSON.
    Stored(Arc<dyn Everywhere>),
    /// Its inputs and outputs can be JSON, and something between them cannot.
    Unstored(Arc<dyn SomeWhere>),
    /// Its inputs and outputs cannot be JSON.
    NotJson,
}

/// What came of a run: its output or its error, and what happened on the way.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ran {
    pub(crate) ended: Result<Value, String>,
    pub(crate) happened: Vec<String>,
}

impl Ran {
    /// What differs from another run, as lines.
    pub(crate) fn difference(&self, other: &Ran) -> Option<String> {
        let lines = |ran: &Ran| {
            let ended = without_run_ids(&format!("{:?}", ran.ended));
            [ran.happened.clone(), vec![ended]].concat()
        };
        let (own, others) = (lines(self), lines(other));
        if own == others {
            return None;
        }
        let same = own
            .iter()
            .zip(&others)
            .take_while(|(own, other)| own == other);
        let first = same.count();
        let line = |lines: &[String]| lines.get(first).cloned().unwrap_or_default();
        Some(format!("    {}\n    {}", line(&own), line(&others)))
    }
}

/// A text in which the ids of steps of plain runs are only their paths: each run has others.
fn without_run_ids(text: &str) -> String {
    static ID: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"[0-9a-f]{32}-[0-9]+/([\w.\[\]]+)#[0-9]+").unwrap());
    ID.replace_all(text, "$1").into_owned()
}

/// What people answer, by path, in the order of the questions, and the signals that are sent. All
/// runs that are compared get the same answers and the same signals.
#[derive(Clone)]
pub(crate) struct Answers {
    known: Arc<Mutex<Known>>,
    signals: Signals,
}

/// Signals by name, in the order in which they are sent, as a run begins.
#[derive(Clone)]
pub(crate) struct Signals {
    types: SignalTypes,
    sent: Arc<[(String, Value)]>,
}

/// No more signals than this are sent for each node that waits for one.
const FOR_EACH_NODE: usize = 4;

impl Signals {
    /// Signals that the flow takes, made up.
    pub(crate) fn new(
        document: &FlowDocument,
        external: impl Fn(&str) -> Option<ExternalType>,
        dice: &mut Dice,
    ) -> Self {
        let external = |path: &str| external(&format!("{}.{path}", document.namespace));
        let mut sent = Vec::new();
        for at in document.signals() {
            let Some(ty) = external(&at.path) else {
                continue;
            };
            for _ in 0..dice.below(FOR_EACH_NODE) {
                let read =
                    |deserializer: &mut dyn erased_serde::Deserializer<'_>| ty.read(deserializer);
                let place = dice.below(sent.len() + 1);
                if let Ok(body) = made_up(dice, read) {
                    sent.insert(place, (at.name.to_owned(), body));
                }
            }
        }
        Signals {
            types: SignalTypes::new(document, external),
            sent: sent.into(),
        }
    }

    /// A sender that has sent them to a run.
    fn sender(&self) -> SignalSender {
        let sender = SignalSender::new(self);
        for (name, body) in self.sent.iter() {
            if let Err(error) = sender.send_json(name, body.clone()) {
                unreachable!("the type made the signal `{name}` up: {error}");
            }
        }
        sender
    }

    /// Sends them to an execution, which may end before it has taken all.
    async fn send(&self, runtime: &Runtime, id: ExecutionId) {
        for (name, body) in self.sent.iter() {
            let options = SignalOptions::new();
            let sent = runtime
                .executions()
                .signal_json(id, name, body.clone(), options);
            if sent.await.is_err() {
                break;
            }
        }
    }
}

impl TakesSignals for Signals {
    fn signals(&self) -> SignalTypes {
        self.types.clone()
    }
}

/// A value of a type, made up.
fn made_up(
    dice: &mut Dice,
    read: impl Fn(&mut dyn erased_serde::Deserializer<'_>) -> Result<(), erased_serde::Error>,
) -> Result<Value, erased_serde::Error> {
    let mut said = Value::Null;
    let dream = Dream {
        dice,
        said: &mut said,
    };
    let mut deserializer = <dyn erased_serde::Deserializer<'_>>::erase(dream);
    read(&mut deserializer)?;
    Ok(said)
}

struct Known {
    dice: Dice,
    by_path: HashMap<String, Vec<Value>>,
}

impl Answers {
    pub(crate) fn new(dice: Dice, given: &Value, signals: Signals) -> Self {
        let given = given.as_object().into_iter().flatten();
        let given = given.map(|(path, answer)| (path.clone(), vec![answer.clone()]));
        let known = Known {
            dice,
            by_path: given.collect(),
        };
        Answers {
            known: Arc::new(Mutex::new(known)),
            signals,
        }
    }

    /// The answer to a question that was asked at its path so many times before.
    fn answer(&self, question: &Question, before: usize) -> Value {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let Known { dice, by_path } = &mut *known;
        let answers = by_path.entry(question.path().to_owned()).or_default();
        while answers.len() <= before {
            match made_up(dice, |deserializer| question.read(deserializer)) {
                Ok(answer) => answers.push(answer),
                Err(error) => return Value::from(format!("no answer: {error}")),
            }
        }
        answers[before].clone()
    }

    /// The answer that was given before.
    fn known(&self, path: &str, before: usize) -> Option<Value> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.by_path.get(path)?.get(before).cloned()
    }
}

/// The events of a run, without its id.
#[derive(Clone, Default)]
struct Trace(Arc<Mutex<Vec<String>>>);

impl Observer for Trace {
    fn on_event(&self, event: &Event<'_>) {
        let line = match event.kind() {
            EventKind::NodeFinished { action } => format!("{} - {action:?}", event.path()),
            _ => event.to_string(),
        };
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(line);
    }
}

fn text(ended: Option<Result<Saved, RunError>>) -> Result<Value, String> {
    match ended {
        Some(Ok(output)) => Ok(output.into_json()),
        Some(Err(RunError::Failed(failed))) => Err(format!("{failed:#}")),
        Some(Err(RunError::Input(error))) => Err(error.to_string()),
        Some(Err(RunError::Output(unstorable))) => Err(unstorable.to_string()),
        None => Err("it waits forever".to_owned()),
    }
}

fn saved(input: &Value) -> Saved {
    match Saved::from_json(input.clone()) {
        Some(input) => input,
        None => unreachable!("inputs are objects: {input}"),
    }
}

/// Runs a flow without options.
pub(crate) async fn plain(flow: &dyn AnyFlow<Direct>, input: &Value) -> Ran {
    let engine = Direct::new();
    let run = run_any(flow, &engine, saved(input));
    Ran {
        ended: text(tokio::time::timeout(LONGEST, run).await.ok()),
        happened: Vec::new(),
    }
}

/// Runs a flow with an observer, somebody who answers, and signals.
pub(crate) async fn observed(
    flow: &dyn for<'r> AnyFlow<Observed<'r>>,
    input: &Value,
    answers: &Answers,
) -> Ran {
    let trace = Trace::default();
    let sender = answers.signals.sender();
    let (answers, asked) = (answers.clone(), Mutex::new(HashMap::new()));
    let answer = move |question: &Question| {
        let mut asked = asked.lock().unwrap_or_else(PoisonError::into_inner);
        let before = asked.entry(question.path().to_owned()).or_insert(0);
        *before += 1;
        answers.answer(question, *before - 1)
    };
    let options = RunOptions::answer(answer).step_budget(STEPS);
    let options = options.signals(&sender);
    let run = Run::numbered(options.observer(Arc::new(trace.clone())));
    let engine = Observed::new(&run);
    let run = run_any(flow, &engine, saved(input));
    let ended = text(tokio::time::timeout(LONGEST, run).await.ok());
    let happened = trace.0.lock().unwrap_or_else(PoisonError::into_inner);
    Ran {
        ended,
        happened: happened.clone(),
    }
}

/// A runtime over a store that knows this flow.
pub(crate) fn runtime(store: impl Store, flow: Arc<dyn AnyFlow<Durable>>) -> Runtime {
    let began = Instant::now();
    let clock = move || SystemTime::UNIX_EPOCH + Duration::from_secs(1_000) + began.elapsed();
    // A claim that is not renewed again and again while nothing happens.
    let options = RuntimeOptions::new().clock(clock).lease(2 * LONGEST);
    let runtime = Runtime::with_options(store, options);
    match runtime.register(flow) {
        Ok(()) => runtime,
        Err(error) => unreachable!("a runtime with one flow takes it: {error}"),
    }
}

/// Runs a flow durably on a runtime that knows it. Returns the execution as well, if there is one.
pub(crate) async fn durable(
    runtime: &Runtime,
    name: &str,
    input: &Value,
    answers: &Answers,
) -> (Ran, Option<ExecutionId>) {
    let options = StartOptions::new().step_budget(STEPS);
    match runtime
        .executions()
        .start_json(name, input.clone(), options)
        .await
    {
        Ok(execution) => {
            let id = execution.id();
            (to_its_end(runtime, execution, answers).await, Some(id))
        }
        Err(error) => {
            let ran = Ran {
                ended: Err(error.to_string()),
                happened: Vec::new(),
            };
            (ran, None)
        }
    }
}

/// Sends an execution its signals, answers what it asks until it is over, and returns its journal.
pub(crate) async fn to_its_end(runtime: &Runtime, execution: Execution, answers: &Answers) -> Ran {
    match tokio::time::timeout(LONGEST, answered(runtime, execution.clone(), answers)).await {
        Ok(Ok(ran)) => ran,
        Ok(Err(error)) => Ran {
            ended: Err(error
                .to_string()
                .replace(&execution.id().to_string(), "<id>")),
            happened: journal(&execution).await.unwrap_or_default(),
        },
        Err(_) => Ran {
            ended: Err("it waits forever".to_owned()),
            happened: journal(&execution).await.unwrap_or_default(),
        },
    }
}

async fn answered(
    runtime: &Runtime,
    mut execution: Execution,
    answers: &Answers,
) -> Result<Ran, RuntimeError> {
    let mut asked = HashMap::new();
    answers.signals.send(runtime, execution.id()).await;
    loop {
        execution = execution.settled().await?;
        if execution.status().is_over() {
            break;
        }
        let mut pause = Duration::from_secs(60 * 60);
        for question in execution.questions().await? {
            let before = asked.entry(question.path().to_owned()).or_insert(0);
            if let Some(answer) = answers.known(question.path(), *before) {
                *before += 1;
                pause = Duration::ZERO;
                runtime
                    .executions()
                    .resume(question.token(), answer)
                    .await?;
            }
        }
        tokio::time::sleep(pause).await;
        execution = execution.refreshed().await?;
    }
    let ended = match execution.output_json()? {
        Some(output) => Ok(without_id(&output, execution.id())),
        None => Err(format!(
            "{:?}: {:?}",
            execution.status(),
            execution.reason()
        )),
    };
    Ok(Ran {
        ended,
        happened: journal(&execution).await?,
    })
}

/// The output, in which a node may have put the id of its execution.
fn without_id(output: &Value, id: ExecutionId) -> Value {
    let text = output.to_string().replace(&id.to_string(), "<id>");
    Value::from_str(&text).unwrap_or(Value::String(text))
}

/// The journal without the ids of executions, with times since it began.
async fn journal(execution: &Execution) -> Result<Vec<String>, RuntimeError> {
    let id = execution.id().to_string();
    let began = execution
        .created_at()
        .duration_since(SystemTime::UNIX_EPOCH);
    let began = began.unwrap_or_default().as_millis() as i128;
    let original = execution.copied_from().map(|id| id.to_string());
    let line = |record: Record| {
        let Record {
            seq,
            at_ms,
            kind,
            path,
            step,
            visit,
            item,
            attempt,
            payload,
        } = record;
        let payload = payload.replace(&id, "<id>");
        let payload = match &original {
            Some(original) => payload.replace(original, "<original>"),
            None => payload,
        };
        let at_ms = at_ms as i128 - began;
        format!("{seq} {kind} {path} {step} {visit} {item:?} {attempt}, {at_ms} ms: {payload}")
    };
    Ok(execution.journal().await?.into_iter().map(line).collect())
}
