//! What is told to `tracing`. In a program of its own: a subscriber that is set while another thread
//! comes to the same warning for the first time may never hear of that warning.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use flow_agents::agent::{Agent, AgentInput};
use flow_agents::{
    Chat, Message, Messages, Model, ModelError, Reply, Request, Retrying, ScriptedModel, Stop,
    Usage, tools,
};
use flow_otel::names::gen_ai;
use flow_runtime::prelude::*;
use serde_json::json;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

fn limited(retry_after: Option<u64>) -> ModelError {
    ModelError::RateLimited {
        retry_after: retry_after.map(Duration::from_secs),
        message: "too many requests".to_owned(),
    }
}

/// Writes down the warnings of `tracing`.
#[derive(Default, Clone)]
struct Warnings(Arc<Mutex<Vec<String>>>);

struct Fields(Vec<String>);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.0.push(format!("{field}={value:?}"));
    }
}

impl Subscriber for Warnings {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() == Level::WARN
    }

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields(Vec::new());
        event.record(&mut fields);
        self.0.lock().unwrap().push(fields.0.join(" "));
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[tokio::test(start_paused = true)]
async fn each_pause_is_a_warning() {
    let warnings = Warnings::default();
    let _guard = tracing::subscriber::set_default(warnings.clone());
    let script = ScriptedModel::new()
        .error(limited(Some(7)))
        .error(limited(None));
    let model = Retrying::new(script.text("hello")).jitter(0.0);
    let request = Request::new(&Messages::from_iter([Message::user("hello")]));
    model.complete(&request).await.unwrap();
    let again = "message=the model is asked again after a pause";
    let limit = "error=the provider limits the rate of requests";
    assert_eq!(
        *warnings.0.lock().unwrap(),
        [
            format!(
                "{again} attempt=1 {limit}, and asks to wait 7s: too many requests wait_secs=7.0"
            ),
            format!("{again} attempt=2 {limit}: too many requests wait_secs=2.0"),
        ]
    );
}

flow! {
    Answer(messages: Messages) -> (messages: Messages) {
        node chat: Chat;
        start >> chat >> end;
    }
}

/// Writes down the spans of models, with what is known of them at first and later.
#[derive(Default, Clone)]
struct Spans(Arc<Mutex<Vec<String>>>);

impl Subscriber for Spans {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_span() && metadata.target().starts_with("flow_agents")
    }

    fn event(&self, _: &Event<'_>) {}

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let mut fields = Fields(vec![attributes.metadata().name().to_owned()]);
        attributes.record(&mut fields);
        self.0.lock().unwrap().extend(fields.0);
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, record: &Record<'_>) {
        let mut fields = Fields(Vec::new());
        record.record(&mut fields);
        self.0.lock().unwrap().extend(fields.0);
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// The names are those of the table, which has a version.
#[tokio::test]
async fn each_request_is_a_span_with_what_it_used() {
    let spans = Spans::default();
    let _guard = tracing::subscriber::set_default(spans.clone());
    let reply = Reply::new("It rains.", Vec::new(), Usage::new(12, 3), Stop::Done);
    let chat = Chat::new(ScriptedModel::new().reply(reply))
        .max_tokens(100)
        .temperature(0.5);
    let flow = Answer::builder().chat(chat).build();
    let messages = Messages::from_iter([Message::user("What is the weather?")]);
    flow.run(AnswerInput { messages }).await.unwrap();
    assert_eq!(
        *spans.0.lock().unwrap(),
        [
            "chat".to_owned(),
            format!("{}=\"chat\"", gen_ai::OPERATION_NAME),
            format!("{}=\"scripted\"", gen_ai::REQUEST_MODEL),
            format!("{}=0.5", gen_ai::REQUEST_TEMPERATURE),
            format!("{}=100", gen_ai::REQUEST_MAX_TOKENS),
            format!("{}=12", gen_ai::USAGE_INPUT_TOKENS),
            format!("{}=3", gen_ai::USAGE_OUTPUT_TOKENS),
        ]
    );
}

/// Finds a page.
#[node]
fn search(topic: &str) -> String {
    format!("a page about {topic}")
}

#[tokio::test]
async fn each_call_of_a_tool_is_a_span() {
    let spans = Spans::default();
    let _guard = tracing::subscriber::set_default(spans.clone());
    let script = ScriptedModel::new().calls([("search", json!({ "topic": "crabs" }))]);
    let agent = Agent::of(script.text("An animal."), tools![search]);
    let messages = Messages::from_iter([Message::user("What is a crab?")]);
    let input = AgentInput::builder().messages(messages).build();
    agent.run(input).await.unwrap();
    let spans = spans.0.lock().unwrap();
    let names: Vec<&String> = spans.iter().filter(|line| !line.contains('=')).collect();
    assert_eq!(names, ["chat", "execute_tool", "chat"]);
    for field in [
        format!("{}=\"execute_tool\"", gen_ai::OPERATION_NAME),
        format!("{}=\"search\"", gen_ai::TOOL_NAME),
        format!("{}=\"call_1\"", gen_ai::TOOL_CALL_ID),
    ] {
        assert!(spans.contains(&field), "{field}: {spans:?}");
    }
}
