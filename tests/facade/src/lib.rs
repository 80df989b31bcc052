//! A program that depends on `typed-flows` alone, under another name. Its flows, its lists of nodes
//! and of tools use what a library offers that depends on the runtime itself.

#![cfg(test)]

use flow_tests_library::nodes::{Topic, classify, style};
use flow_tests_library::{Desk, Lookup, reply};
use flows::agents::agent::{Agent, AgentInput};
use flows::agents::{Message, Messages, ScriptedModel, tools};
use flows::documents::{Format, load, registry};
use flows::durable::{Runtime, StartOptions};
use flows::prelude::*;
use flows::sqlite::SqliteStore;
use serde::Deserialize;
use serde_json::json;

/// Shouts where the library would answer.
#[node(writes = answer)]
fn shout(question: &str) -> String {
    question.to_uppercase()
}

/// Decides with an enum of the library.
#[node(actions = Topic)]
fn guess(question: &str) -> Topic {
    classify(question)
}

/// Decides with an enum of the runtime.
#[node(actions = FlowAction)]
fn accept(question: &str) -> FlowAction {
    if question.is_empty() {
        FlowAction::Failure
    } else {
        FlowAction::Success
    }
}

flow! {
    Sorted(question: String) -> (term: Option<String>) {
        start >> accept;
        accept - "success" >> guess;
        accept - "failure" >> end("empty");
        accept - "error" >> end("empty");
        accept - "complete" >> end;
        accept - "retry" >> accept;
        accept >> end;
        guess - "known" >> end;
        guess - "unknown" >> end("unknown");
    }
}

#[derive(Action)]
enum Length {
    Short,
    Long { surplus: usize },
}

#[node(actions = Length)]
fn measure(answer: &str) -> Length {
    match answer.len().checked_sub(20) {
        None => Length::Short,
        Some(surplus) => Length::Long { surplus },
    }
}

#[derive(Default, Deserialize)]
struct Cut {
    mark: String,
}

#[node(writes = answer)]
impl Cut {
    async fn exec(&self, mut answer: String, surplus: &usize) -> String {
        answer.truncate(answer.len() - surplus);
        answer + &self.mark
    }
}

flow! {
    Brief(question: String) -> (answer: String, format: String) {
        node book: Lookup = Lookup::new([("rust", "a language")]);
        node desk: Desk;
        start >> classify;
        classify - "known" >> book >> reply >> measure;
        classify - "unknown" >> shout >> measure;
        book - "error" >> desk >> measure;
        desk - "not_found" >> measure;
        measure - "short" >> style::format >> end;
        measure - "long" >> Cut >> style::format;
    }
}

fn brief() -> Brief {
    let desk = Desk::builder().book(Lookup::default()).build();
    Brief::builder().desk(desk).build()
}

#[tokio::test]
async fn a_flow_with_nodes_of_a_library_runs() {
    let output = brief()
        .run(BriefInput {
            question: "who are you, and why?".to_owned(),
        })
        .await;
    assert_eq!(
        output.expect("it reaches its end").answer,
        "WHO ARE YOU, AND WHY"
    );
}

#[node(writes = sum)]
fn add(numbers: &[u64]) -> u64 {
    numbers.iter().sum()
}

flow! {
    Sum(numbers: Vec<u64>) -> (sum: u64) {
        start >> add >> end;
    }
}

#[tokio::test]
async fn enums_of_actions_of_other_crates_are_used() {
    for (question, end, term) in [
        ("", SortedEnd::Empty, None),
        ("who?", SortedEnd::Unknown, None),
        ("what is rust?", SortedEnd::Default, Some("rust")),
    ] {
        let input = SortedInput {
            question: question.to_owned(),
        };
        let output = Sorted::new().run(input).await.expect("it reaches an end");
        assert_eq!((output.end, output.term.as_deref()), (end, term));
    }
}

#[tokio::test]
async fn it_is_durable() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = SqliteStore::open(folder.path().join("sums.db")).await;
    let runtime = Runtime::new(store.expect("a store"));
    runtime.register(Sum::new()).expect("a new flow");
    let input = SumInput {
        numbers: vec![1, 2],
    };
    let execution = runtime
        .executions()
        .start::<Sum>(input, StartOptions::new())
        .await;
    let execution = execution.expect("a start").settled().await.expect("an end");
    let output = execution.output::<Sum>().expect("an output");
    assert_eq!(output.expect("it is completed").sum, 3);
}

#[tokio::test]
async fn a_document_uses_its_nodes_and_those_of_a_library() {
    let document = "
version: 2.0.0
name: Loud
namespace: loud
inputs: { type: object, properties: { question: {} }, required: [question] }
outputs: { type: object, properties: { format: {} }, required: [format] }
nodes:
  - { type: shout, id: shout }
  - { type: measure, id: measure }
  - { type: Cut, id: cut, params: { mark: '!' } }
  - { type: format, id: format }
entryNodeId: shout
edges:
  - { from: shout, to: measure, condition: default }
  - { from: measure, to: format, condition: short }
  - { from: measure, to: cut, condition: long }
  - { from: cut, to: format, condition: default }
ends:
  - { from: format, condition: default, label: default }
";
    let registry = registry![shout, measure, Cut, style::format];
    let flow = load(document, Format::Yaml, &registry).expect("a flow");
    let output = flow
        .run(json!({ "question": "who are you, and why?" }))
        .await;
    assert_eq!(
        output.expect("it reaches its end")["format"],
        "> WHO ARE YOU, AND WHY!"
    );
}

#[tokio::test]
async fn a_model_calls_its_nodes() {
    let model = ScriptedModel::new()
        .calls([("shout", json!({ "question": "hm" }))])
        .text("It says HM.");
    let messages = Messages::from_iter([Message::user("What does it say?")]);
    let input = AgentInput::builder().messages(messages).build();
    let desk = Desk::builder().book(Lookup::default()).build();
    let agent = Agent::of(model, tools![shout, Desk = desk]);
    let output = agent.run(input).await.expect("an answer");
    let text = format!("{:?}", output.messages);
    assert!(text.contains("It says HM."), "{text}");
}
