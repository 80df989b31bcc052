//! Knowledge: three letters are read one after the other, and a question is answered from them. The
//! last letter says that a fact in the first one is no longer true.
//!
//! ```text
//! cargo run -p flow-examples --example knowledge
//! cargo run -p flow-examples --features genai --example knowledge -- --model ollama:qwen3:4b
//! ```

use std::error::Error;
use std::sync::Arc;

use typed_flows::agents::knowledge::{
    Learn, LearnInput, MemoryGraph, Recall, Recalled, tell_known,
};
use typed_flows::agents::{Chat, Message, Messages, Reply, ScriptedModel};
use typed_flows::prelude::*;

/// The letters, with the days on which they were written.
const LETTERS: [(&str, &str, &str); 3] = [
    (
        "a letter of March",
        "2024-03-02",
        "Ann Lee works at Acme, the builder of bridges.",
    ),
    (
        "a letter of May",
        "2024-05-11",
        "Acme is building the new bridge over the Elbe.",
    ),
    (
        "a letter of June",
        "2024-06-20",
        "Ann Lee left Acme this month. She works for Bolt now.",
    ),
];

/// Begins the conversation.
#[node(writes = messages)]
fn begin(question: &str) -> Messages {
    Messages::from_iter([
        Message::system("Answer in one sentence, from what is known."),
        Message::user(question),
    ])
}

#[node]
fn answer(reply: Reply) -> String {
    reply.content
}

flow! {
    /// Answers a question from the knowledge.
    Answer(question: String) -> (recalled: Recalled, answer: String) {
        node recall: Recall;
        node chat: Chat;
        start >> [recall, begin] >> tell_known >> chat >> answer >> end;
    }
}

/// Sample replies of a model.
fn script() -> ScriptedModel {
    ScriptedModel::new()
        // March: the names in the letter, and the facts about them.
        .text(
            r#"[{ "name": "Ann Lee", "kind": "person", "summary": "" },
                { "name": "Acme", "kind": "company", "summary": "It builds bridges." }]"#,
        )
        .text(
            r#"[{ "subject": "Ann Lee", "relation": "works at", "object": "Acme",
                  "text": "Ann Lee works at Acme." }]"#,
        )
        .text(r#"[{ "fact": 1, "since": null, "until": null }]"#)
        // May. Acme is known, so the facts of the letter are compared with the known ones.
        .text(
            r#"[{ "name": "Acme", "kind": "company", "summary": "" },
                { "name": "Elbe", "kind": "river", "summary": "" }]"#,
        )
        .text(
            r#"[{ "subject": "Acme", "relation": "builds a bridge over", "object": "Elbe",
                  "text": "Acme builds the new bridge over the Elbe." }]"#,
        )
        .text("[]")
        .text(r#"[{ "fact": 1, "since": "2024", "until": null }]"#)
        // June.
        .text(
            r#"[{ "name": "Ann Lee", "kind": "person", "summary": "" },
                { "name": "Acme", "kind": "company", "summary": "" },
                { "name": "Bolt", "kind": "company", "summary": "" }]"#,
        )
        .text(
            r#"[{ "subject": "Ann Lee", "relation": "works at", "object": "Bolt",
                  "text": "Ann Lee works at Bolt." }]"#,
        )
        .text("[]") // nothing connects Acme and Bolt
        .text(r#"[{ "statement": 1, "same_as": null, "replaces": [1] }]"#)
        .text(r#"[{ "fact": 1, "since": "2024-06", "until": null }]"#)
        // The answer.
        .text("She works at Bolt, since June 2024.")
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let chosen = flow_examples::model(script())?;
    let graph = Arc::new(MemoryGraph::new());
    let learn = Learn::of(Arc::clone(&chosen.model), Arc::clone(&graph));
    for (source, date, text) in LETTERS {
        let letter = LearnInput::builder()
            .text(text.into())
            .source(source.into());
        let letter = letter.date(date.into()).with_dates(true).build();
        let learned = learn.run(letter).await?;
        println!("{source}:");
        for fact in learned.facts.unwrap_or_default() {
            println!("  {fact}");
        }
    }

    let flow = Answer::builder()
        .recall(Recall::new(graph).levels(2))
        .chat(Chat::new(chosen.model))
        .build();
    let question = "Where does Ann Lee work?".to_owned();
    let output = flow.run(AnswerInput { question }).await?;
    print!("\nWhat is known:\n{}", output.recalled);
    println!("\n{}", output.answer);

    if let Some(script) = chosen.script {
        script.assert_used();
        let known: Vec<String> = output
            .recalled
            .facts
            .iter()
            .map(ToString::to_string)
            .collect();
        let bolt = "Ann Lee works at Bolt. (since 2024-06; source: a letter of June)";
        assert_eq!(known, [bolt]);
    }
    Ok(())
}

#[cfg(all(test, feature = "documents"))]
#[path = "law/knowledge.rs"]
mod law;
