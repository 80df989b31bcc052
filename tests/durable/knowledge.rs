//! Texts that are read, and stopped anywhere: no model is asked again whose answer is recorded.

use std::cell::RefCell;
use std::time::Duration;

use async_trait::async_trait;
use flow_agents::knowledge::{
    ConnectEntities, Connected, Entity, Fact, FindDates, FindEntities, FindFacts, Graph,
    GraphError, Learn, LearnInput, LoadEntities, LoadFacts, MemoryGraph, Mention, Named,
    ResolveEntities, ResolveFacts, SaveKnowledge, connected,
};
use flow_agents::{Model, ModelError, Reply, Request, Stop, Usage};
use flow_durable::{Record, RecordKind, Runtime, StartOptions, Status};
use serde_json::{Value, json};

use crate::prefixes::the_same_from_everywhere;
use crate::support::{options, store};

thread_local! {
    /// How each request began.
    static REQUESTS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// A model that reads one letter.
#[derive(Clone)]
struct Reader;

fn answer(asked: &str) -> Value {
    let named = |name: &str, kind: &str| json!({ "name": name, "kind": kind, "summary": "" });
    let stated = |subject: &str, relation: &str, object: &str| {
        let text = format!("{subject} {relation} {object}.");
        json!({ "subject": subject, "relation": relation, "object": object, "text": text })
    };
    match asked.split_once(':').map_or("", |(first, _)| first) {
        "Entities" => json!([stated("Ann", "works at", "Acme")]),
        "First list" => json!([stated("Acme", "is in", "Paris")]),
        "Facts" => json!([{ "fact": 1, "since": "2024", "until": null }]),
        _ => json!([
            named("Ann", "person"),
            named("Acme", "company"),
            named("Paris", "city")
        ]),
    }
}

#[async_trait]
impl Model for Reader {
    async fn complete(&self, request: &Request) -> Result<Reply, ModelError> {
        let asked = request.messages.last().map(flow_agents::Message::text);
        let asked = asked.unwrap_or_default();
        REQUESTS.with_borrow_mut(|requests| requests.push(asked.chars().take(5).collect()));
        tokio::time::sleep(Duration::from_millis(30)).await;
        let answer = answer(&asked).to_string();
        Ok(Reply::new(answer, Vec::new(), Usage::new(5, 2), Stop::Done))
    }
}

/// A graph that never knows anything, so that each run finds the same.
struct Blank;

#[async_trait]
impl Graph for Blank {
    async fn find(&self, _: &str, _: usize) -> Result<Vec<Entity>, GraphError> {
        Ok(Vec::new())
    }

    async fn entities(&self, _: &[String]) -> Result<Vec<Entity>, GraphError> {
        Ok(Vec::new())
    }

    async fn facts(&self, _: &[String], _: usize) -> Result<Vec<Fact>, GraphError> {
        Ok(Vec::new())
    }

    async fn save(&self, entities: &[Entity], facts: &[Fact]) -> Result<(), GraphError> {
        MemoryGraph::new().save(entities, facts).await
    }

    async fn forget(&self, _: &str) -> Result<(), GraphError> {
        Ok(())
    }
}

fn learn() -> Learn {
    Learn::of(Reader, Blank)
}

fn input() -> LearnInput {
    let input = LearnInput::builder().text("Ann is at Acme, in Paris.".to_owned());
    input.source("letter".to_owned()).with_dates(true).build()
}

#[tokio::test(start_paused = true)]
async fn a_text_that_is_read_and_stopped_anywhere_says_the_same() {
    let output = the_same_from_everywhere(learn, input, |_| None).await;
    assert_eq!(output["facts"][0]["since"], "2024");
    assert_eq!(output["facts"][1]["text"], "Acme is in Paris.");
    assert_eq!(output["facts"].as_array().map(Vec::len), Some(2));
}

/// Whether the outcome of a step that asks the model is recorded.
fn is_answer(record: &Record) -> bool {
    let asks = [
        ".find_entities",
        ".find_facts",
        ".connect_entities",
        ".find_dates",
    ];
    record.kind == RecordKind::Outcome && asks.iter().any(|step| record.step.contains(step))
}

#[tokio::test(start_paused = true)]
async fn each_answer_is_asked_for_once_whichever_record_was_the_last() {
    let runtime = Runtime::with_options(store(), options());
    runtime.register(learn()).unwrap();
    runtime.recover().await.unwrap();
    REQUESTS.take();
    let started = runtime
        .executions()
        .start::<Learn>(input(), StartOptions::new());
    let first = started.await.unwrap().settled().await.unwrap();
    let journal = first.journal().await.unwrap();
    let requests = REQUESTS.take();
    assert_eq!(requests, ["Ann i", "Entit", "First", "Facts"]);
    for record in &journal {
        let copy = runtime
            .executions()
            .copy(first.id(), record.seq)
            .await
            .unwrap();
        let copy = copy.settled().await.unwrap();
        assert_eq!(copy.status(), Status::Completed);
        let before = journal.iter().filter(|it| it.seq <= record.seq);
        let answered = before.filter(|it| is_answer(it)).count();
        assert_eq!(REQUESTS.take(), requests[answered..], "after {record:?}");
    }
}

flow_law::law! {
    nodes: [
        FindEntities = FindEntities::new(Reader),
        LoadEntities = LoadEntities::new(Blank),
        ResolveEntities = ResolveEntities::new(Reader),
        FindFacts = FindFacts::new(Reader),
        ConnectEntities = ConnectEntities::new(Reader),
        LoadFacts = LoadFacts::new(Blank),
        ResolveFacts = ResolveFacts::new(Reader),
        FindDates = FindDates::new(Reader),
        SaveKnowledge = SaveKnowledge::new(Blank),
        connected,
    ],
    flows: [Learn(learn())],
    types: [Mention, Named, Entity, Fact, Connected],
    left_out: [],
}
