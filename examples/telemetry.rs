//! Traces: a run, its nodes and their attempts as spans of OpenTelemetry, with the values that the
//! nodes read and wrote and the tokens that their model used. Prints the spans as a tree without
//! times, and can send them to a collector.
//!
//! ```text
//! cargo run -p flow-examples --features otel --example telemetry
//! cargo run -p flow-examples --features otel --example telemetry -- --endpoint ADDRESS
//! cargo run -p flow-examples --features genai,otel --example telemetry -- --model ollama:qwen3:4b
//! ```
//!
//! The address is `http://localhost:4318` for Jaeger, after `docker run -p 4318:4318 -p 16686:16686
//! jaegertracing/jaeger`, and `http://localhost:3000/api/public/otel` for a Langfuse of your own,
//! with its key in the variable `OTEL_EXPORTER_OTLP_HEADERS`: `Authorization=Basic%20…`.
//!
//! The library exports no values, since they can be secret. This program reads them from the
//! journal of the run, and adds them to the exported spans as `input.value` and `output.value`.
//! Langfuse shows these as the input and the output of a node.

use std::collections::HashMap;
use std::error::Error;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use opentelemetry::trace::{SpanId, Status, TraceId};
use opentelemetry::{KeyValue, Value};
use opentelemetry_otlp::WithExportConfig as _;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::metrics::SdkMeterProvider;
use opentelemetry_sdk::trace::{SdkTracerProvider, SpanData, SpanExporter};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use typed_flows::agents::{
    Ask, AskError, Message, Messages, Model, ModelError, Request, ScriptedModel, Usage,
    is_transient,
};
use typed_flows::durable::{
    AccessedValue, EventFilter, Execution, ExecutionEvent, KeyAccess, MemoryStore, Runtime,
    RuntimeError, StartOptions,
};
use typed_flows::otel::names::{self, gen_ai};
use typed_flows::otel::{Follower, SpanIds, Telemetry};
use typed_flows::prelude::*;

/// The attributes for the values that a node read and wrote.
const INPUT: &str = "input.value";
const OUTPUT: &str = "output.value";

struct WriteSlogan {
    model: Arc<dyn Model>,
}

/// Writes a slogan, and notes the tokens that this took.
#[node(writes(slogan, usage))]
impl WriteSlogan {
    async fn exec(
        &self,
        product: &str,
        objection: Option<&str>,
    ) -> Result<(String, Usage), ModelError> {
        let mut messages = Messages::from_iter([Message::user(format!(
            "Write a slogan of at most six words for {product}."
        ))]);
        if let Some(objection) = objection {
            messages.add_user(format!("The last one was refused: {objection}"));
        }
        let reply = self.model.complete(&Request::new(&messages)).await?;
        let reply = reply.into_complete()?;
        Ok((reply.content, reply.usage))
    }
}

#[derive(Action, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "verdict", rename_all = "snake_case")]
enum Verdict {
    Good,
    Bad { objection: String },
}

struct Judge {
    model: Arc<dyn Model>,
}

/// Judges the slogan, and notes the tokens that this took.
#[node(writes = usage, actions = Verdict)]
impl Judge {
    async fn exec(&self, product: &str, slogan: &str) -> Result<(Usage, Verdict), AskError> {
        let messages = Messages::from_iter([
            Message::system("Judge a slogan. It has to say what the product is good for."),
            Message::user(format!("The product: {product}\nThe slogan: {slogan}")),
        ]);
        let answered = Ask::new(&self.model, &messages).answer().await?;
        Ok((answered.usage, answered.value))
    }
}

flow! {
    /// Writes a slogan, and a second one if the first is bad.
    Slogans(product: String) -> (slogan: String) {
        node write: WriteSlogan with retry(attempts = 3, wait = "10ms", if = is_transient);
        node judge: Judge;
        node rewrite: WriteSlogan with retry(attempts = 3, wait = "10ms", if = is_transient);

        start >> write >> judge;
        judge - "good" >> end;
        judge - "bad"  >> rewrite >> end;
    }
}

/// The attributes of spans that the journal knows, by trace and step.
type Values = Arc<Mutex<HashMap<(TraceId, String), Vec<KeyValue>>>>;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads from the journal what the nodes of an execution read and wrote. Here is the place to leave
/// out what is secret.
async fn read_values(execution: &Execution, values: &Values) -> Result<(), RuntimeError> {
    let trace = TraceId::from_bytes(*execution.id().as_uuid().as_bytes());
    let filter = EventFilter::new().from_start().until_now().values();
    let mut events = execution.events(filter).await?;
    while let Some(event) = events.next().await.transpose()? {
        let ExecutionEvent::Recorded(event) = event else {
            continue;
        };
        let Some(accessed) = event.values else {
            continue;
        };
        let mut values = lock(values);
        let attributes = values.entry((trace, event.record.step)).or_default();
        let read = listed(&accessed.reads);
        attributes.extend((!read.is_empty()).then(|| KeyValue::new(INPUT, read)));
        let is_usage = |access: &KeyAccess| access.key == "usage";
        let (usage, written): (Vec<_>, Vec<_>) = accessed.writes.into_iter().partition(is_usage);
        attributes.extend(usage.iter().filter_map(tokens).flatten());
        let written = listed(&written);
        attributes.extend((!written.is_empty()).then(|| KeyValue::new(OUTPUT, written)));
    }
    Ok(())
}

/// The values in short, with their keys.
fn listed(accesses: &[KeyAccess]) -> String {
    let values = accesses.iter().filter_map(|access| match &access.value {
        AccessedValue::Summary(json) => Some(format!("{}: {json}", access.key)),
        _ => None,
    });
    values.collect::<Vec<_>>().join(", ")
}

/// The tokens as attributes of OpenTelemetry's conventions.
fn tokens(access: &KeyAccess) -> Option<[KeyValue; 2]> {
    let AccessedValue::Summary(json) = &access.value else {
        return None;
    };
    let usage: Usage = serde_json::from_str(json).ok()?;
    let number = |tokens: u64| i64::try_from(tokens).unwrap_or(i64::MAX);
    Some([
        KeyValue::new(gen_ai::USAGE_INPUT_TOKENS, number(usage.input_tokens)),
        KeyValue::new(gen_ai::USAGE_OUTPUT_TOKENS, number(usage.output_tokens)),
    ])
}

/// Adds values to spans, keeps the spans, and sends them to the collector if there is one.
#[derive(Debug)]
struct WithValues {
    values: Values,
    kept: Arc<Mutex<Vec<SpanData>>>,
    collector: Option<opentelemetry_otlp::SpanExporter>,
}

impl SpanExporter for WithValues {
    async fn export(&self, mut batch: Vec<SpanData>) -> OTelSdkResult {
        for span in &mut batch {
            let Some(step) = attribute(span, names::STEP).map(Value::to_string) else {
                continue;
            };
            let step = (span.span_context.trace_id(), step);
            let known = lock(&self.values).remove(&step);
            span.attributes.extend(known.into_iter().flatten());
        }
        lock(&self.kept).extend(batch.iter().cloned());
        match &self.collector {
            Some(collector) => collector.export(batch).await,
            None => Ok(()),
        }
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        match &self.collector {
            Some(collector) => collector.shutdown_with_timeout(timeout),
            None => Ok(()),
        }
    }

    fn set_resource(&mut self, resource: &Resource) {
        if let Some(collector) = &mut self.collector {
            collector.set_resource(resource);
        }
    }
}

fn attribute<'a>(span: &'a SpanData, key: &str) -> Option<&'a Value> {
    let mut attributes = span.attributes.iter();
    let found = attributes.find(|it| it.key.as_str() == key);
    found.map(|it| &it.value)
}

/// Formats the spans inside another one as a tree, without their times.
fn tree(spans: &[SpanData], parent: SpanId, depth: usize) -> String {
    let mut inside: Vec<&SpanData> = spans
        .iter()
        .filter(|span| span.parent_span_id == parent)
        .collect();
    inside.sort_by_key(|span| span.start_time);
    let indent = "  ".repeat(depth);
    let mut text = String::new();
    for span in inside {
        let mut line = format!("{indent}{}", span.name);
        let shown = [
            ("", names::STATUS),
            ("", names::ACTION),
            ("tokens in: ", gen_ai::USAGE_INPUT_TOKENS),
            ("tokens out: ", gen_ai::USAGE_OUTPUT_TOKENS),
        ];
        for (label, key) in shown {
            if let Some(value) = attribute(span, key) {
                let _ = write!(line, " | {label}{value}");
            }
        }
        if let Status::Error { description } = &span.status {
            let _ = write!(line, " | error: {description}");
        }
        for (sign, key) in [("<", INPUT), (">", OUTPUT)] {
            if let Some(value) = attribute(span, key) {
                let _ = write!(line, "\n{indent}  {sign} {value}");
            }
        }
        let span = tree(spans, span.span_context.span_id(), depth + 1);
        let _ = write!(text, "{line}\n{span}");
    }
    text
}

/// Sample replies of a model: an error, because it is busy, a bad slogan, a verdict, and a better
/// slogan.
fn script() -> ScriptedModel {
    let busy = ModelError::Unavailable {
        retry_after: None,
        source: "it is busy".into(),
    };
    ScriptedModel::new()
        .error(busy)
        .text("Simply a teapot.")
        .usage(21, 6)
        .text(r#"{ "verdict": "bad", "objection": "What is it good for?" }"#)
        .usage(180, 19)
        .text("Keeps tea hot for an evening.")
        .usage(34, 9)
}

const TREE: &str = r#"slogans | completed
  slogans.write | default | tokens in: 21 | tokens out: 6
    < product: "a teapot with a double wall"
    > slogan: "Simply a teapot."
    attempt | error: the provider cannot answer
    attempt
  slogans.judge | bad | tokens in: 180 | tokens out: 19
    < product: "a teapot with a double wall", slogan: "Simply a teapot."
    > objection: "What is it good for?"
  slogans.rewrite | default | tokens in: 34 | tokens out: 9
    < product: "a teapot with a double wall", objection: "What is it good for?"
    > slogan: "Keeps tea hot for an evening."
"#;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (model, collector): (Arc<dyn Model>, _) = match &arguments[..] {
        [option, address] if option == "--endpoint" => {
            let collector = opentelemetry_otlp::SpanExporter::builder()
                .with_http()
                .with_endpoint(format!("{address}/v1/traces"))
                .build()?;
            (Arc::new(script()), Some(collector))
        }
        _ => (flow_examples::model(script())?.model, None),
    };
    let is_scripted = model.about().name == "scripted";

    let (values, kept) = (Values::default(), Arc::default());
    let exporter = WithValues {
        values: Arc::clone(&values),
        kept: Arc::clone(&kept),
        collector,
    };
    let service = Resource::builder().with_service_name("slogans").build();
    let tracers = SdkTracerProvider::builder()
        .with_resource(service)
        .with_id_generator(SpanIds::new())
        .with_batch_exporter(exporter)
        .build();
    let telemetry = Telemetry::new(&tracers, &SdkMeterProvider::default());

    let runtime = Runtime::new(MemoryStore::new());
    let flow = Slogans::builder()
        .write(WriteSlogan {
            model: Arc::clone(&model),
        })
        .judge(Judge {
            model: Arc::clone(&model),
        })
        .rewrite(WriteSlogan { model })
        .build();
    runtime.register(flow)?;
    let mut follower = Follower::new(runtime.all_owners(), &telemetry);

    let product = "a teapot with a double wall".to_owned();
    let started = runtime
        .executions()
        .start::<Slogans>(SlogansInput { product }, StartOptions::new());
    let execution = started.await?.settled().await?;
    // The values come first: they have to be there when the spans are exported.
    read_values(&execution, &values).await?;
    follower
        .follow(EventFilter::new().from_start().until_now())
        .await?;
    let sent = tracers.force_flush();

    let tree = tree(&lock(&kept), SpanId::INVALID, 0);
    print!("{tree}");
    sent?;
    tracers.shutdown()?;
    if let Some(reason) = execution.reason() {
        return Err(reason.into());
    }
    if is_scripted {
        assert_eq!(tree, TREE);
    }
    Ok(())
}

#[cfg(all(test, feature = "documents"))]
#[path = "law/telemetry.rs"]
mod law;
