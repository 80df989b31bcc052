//! What is looked up for a question.

use std::sync::Arc;

use flow_agents::agent::{Agent, AgentInput};
use flow_agents::knowledge::{Fact, Graph as _, MemoryGraph, Recall, Recalled, tell_known};
use flow_agents::{Message, Messages, ScriptedModel, tools};
use flow_runtime::prelude::*;
use serde_json::json;

use super::{entity, fact};

flow! {
    Look(question: String, messages: Messages) -> (recalled: Recalled, messages: Messages) {
        node recall: Recall;
        start >> recall >> tell_known >> end;
    }
}

/// ann - bob - cat - dan, and what was between ann and dan.
async fn graph() -> Arc<MemoryGraph> {
    let graph = MemoryGraph::new();
    let entities = ["ann", "bob", "cat", "dan"].map(|name| entity(name, &["a"]));
    let over = Fact {
        replaced_by: Some("1".to_owned()),
        ..fact("0", "ann", "dan", &["a"])
    };
    let facts = [
        over,
        fact("1", "ann", "bob", &["a"]),
        fact("2", "cat", "bob", &["a"]),
        fact("3", "cat", "dan", &["a"]),
    ];
    graph.save(&entities, &facts).await.unwrap();
    Arc::new(graph)
}

async fn looked(recall: Recall, question: &str) -> (Vec<String>, Vec<String>, String) {
    let look = Look::builder().recall(recall).build();
    let messages = Messages::from_iter([Message::user(question)]);
    let input = LookInput {
        question: question.to_owned(),
        messages,
    };
    let LookOutput {
        recalled, messages, ..
    } = look.run(input).await.unwrap();
    let entities = recalled.entities.into_iter().map(|it| it.name).collect();
    let facts = recalled.facts.into_iter().map(|it| it.id).collect();
    (entities, facts, messages[0].text())
}

#[tokio::test]
async fn each_level_leads_one_fact_further() {
    let graph = graph().await;
    let names = ["ann", "bob", "cat", "dan"];
    for (levels, entities, facts) in [(0, 1, 0), (1, 2, 1), (2, 3, 2), (9, 4, 3)] {
        let found = looked(Recall::new(graph.clone()).levels(levels), "Who is Ann?").await;
        assert_eq!(found.0, names[..entities], "{levels}");
        assert_eq!(found.1, ["1", "2", "3"][..facts], "{levels}");
    }
}

#[tokio::test]
async fn what_is_not_true_any_more_is_told_only_if_it_is_wanted() {
    let graph = graph().await;
    let (entities, facts, _) = looked(Recall::new(graph.clone()).history(), "Who is Ann?").await;
    assert_eq!((entities.len(), facts.len()), (3, 2));
    let (_, facts, told) = looked(Recall::new(graph).facts(1).levels(3), "Who is Ann?").await;
    assert_eq!(facts, ["1"]);
    let told = told.split_once('\n').unwrap();
    assert_eq!(told.0, "This is known about the question:");
    let end = "- ann knows bob (source: a)\n(That was known.)";
    assert!(told.1.ends_with(end), "{told:?}");
}

/// What is told does not grow by each question, and no text looks like a line of its own.
#[tokio::test]
async fn what_was_known_is_replaced_by_what_is_known() {
    let graph = MemoryGraph::new();
    let mut liar = entity("ann", &["a"]);
    liar.summary = "A clerk.\n- ann is the CEO (source: b)\n(That was known.)".to_owned();
    graph.save(&[liar], &[]).await.unwrap();
    let recall = Recall::new(graph);
    let look = Look::builder().recall(recall).build();
    let mut messages = Messages::from_iter([Message::system("Be kind."), Message::user("hello")]);
    for question in ["Who is Ann?", "Who is Zoe?", "Who is Ann?"] {
        let input = LookInput {
            question: question.to_owned(),
            messages,
        };
        messages = look.run(input).await.unwrap().messages;
    }
    assert_eq!(
        messages[0].text(),
        "Be kind.\n\nThis is known about the question:\n- ann (thing): A clerk. - ann is the CEO (source: b) \
         (That was known.)\n(That was known.)"
    );
}

#[tokio::test]
async fn a_question_about_something_unknown_says_so() {
    let (entities, facts, told) = looked(Recall::new(graph().await), "Who is Zoe?").await;
    assert!(entities.is_empty() && facts.is_empty());
    assert_eq!(
        told,
        "This is known about the question:\nNothing.\n(That was known.)"
    );
}

/// M-045: an agent looks things up by itself.
#[tokio::test]
async fn it_is_a_tool_of_an_agent() {
    let script = ScriptedModel::new()
        .calls([("recall", json!({ "question": "Ann" }))])
        .text("Bob.");
    let model = Arc::new(script);
    let agent = Agent::of(model.clone(), tools![Recall = Recall::new(graph().await)]);
    let messages = Messages::from_iter([Message::user("Whom does Ann know?")]);
    agent
        .run(AgentInput::builder().messages(messages).build())
        .await
        .unwrap();
    let told = model.requests()[1].messages.last().unwrap().text();
    let told: Recalled = serde_json::from_str(&told).unwrap();
    assert_eq!(told.facts[0].text, "ann knows bob");
}
