//! Models of real providers, against a local server that sends what they send.

mod answers;
mod bodies;
mod broken;
mod cuts;
mod embeddings;
mod endings;
mod failures;
mod letters;
mod names;
mod requests;
mod schemas;
mod server;
mod thoughts;
mod unknown;

use std::collections::BTreeMap;
use std::sync::Mutex;

use flow_agents::{GenAi, Message, Messages, Model, ModelError, Reply, ReplyBuilder, Request};
use futures_util::StreamExt as _;

use serde_json::Value;

use self::bodies::Bodies;
use self::server::{Answer, Server};

fn question() -> Request {
    Request::new(&Messages::from_iter([Message::user("How is the weather?")]))
}

/// A model at this server. Of each name, there is one for all tests: to make another one takes longer
/// than most of them.
fn model(name: &str, server: &Server) -> GenAi {
    static MODELS: Mutex<BTreeMap<String, GenAi>> = Mutex::new(BTreeMap::new());
    let mut models = MODELS.lock().unwrap();
    let model = models.entry(name.to_owned());
    let model = model.or_insert_with(|| GenAi::new(name).unwrap().key("secret"));
    model.clone().endpoint(&server.url).unwrap()
}

/// The two ways to ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Complete,
    Stream,
}

const WAYS: [Way; 2] = [Way::Complete, Way::Stream];

impl Way {
    async fn ask(self, model: &impl Model, request: &Request) -> Result<Reply, ModelError> {
        match self {
            Way::Complete => model.complete(request).await,
            Way::Stream => streamed(model, request).await,
        }
    }

    fn answer(self, (whole, events): &(Value, Vec<String>)) -> Answer {
        match self {
            Way::Complete => Answer::json(whole),
            Way::Stream => Answer::events(events),
        }
    }
}

async fn streamed(model: &impl Model, request: &Request) -> Result<Reply, ModelError> {
    let mut chunks = model.stream(request).await?;
    let mut reply = ReplyBuilder::new();
    while let Some(chunk) = chunks.next().await {
        reply.push(chunk?);
    }
    reply.finish()
}

/// Asks a server with this answer.
async fn ask(way: Way, of: &Bodies, answer: Answer) -> Result<Reply, ModelError> {
    let server = Server::start([answer]).await;
    way.ask(&model(of.model, &server), &question()).await
}

/// What the provider of this model sends.
fn of(name: &str) -> Bodies {
    let mut all = bodies::all().into_iter();
    all.find(|it| it.model.starts_with(name)).unwrap()
}

/// A stream of these events.
fn events(events: &[Value]) -> String {
    let events = events.iter().map(|event| {
        let name = event["type"].as_str();
        let name = name.map_or(String::new(), |it| format!("event: {it}\n"));
        format!("{name}data: {event}\n\n")
    });
    events.collect()
}
