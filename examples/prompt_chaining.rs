//! Prompt chaining: each request to the model works on the previous answer. A gate between them
//! sends a poor outline back with feedback.
//!
//! ```text
//! cargo run -p flow-examples --example prompt_chaining
//! cargo run -p flow-examples --features genai --example prompt_chaining -- --model ollama:qwen3:4b
//! ```

use std::error::Error;
use std::sync::Arc;

use typed_flows::agents::{
    AskError, Message, Messages, Model, ModelError, Request, ScriptedModel, ask,
};
use typed_flows::prelude::*;

const FEWEST_SECTIONS: usize = 3;
const MOST_OUTLINES: u32 = 3;

/// Asks for an outline, with feedback on the previous one if it was refused.
struct Outline {
    model: Arc<dyn Model>,
}

#[node(writes(sections, outlines))]
impl Outline {
    async fn exec(
        &self,
        topic: &str,
        outlines: Option<u32>,
        feedback: Option<&str>,
    ) -> Result<(Vec<String>, u32), AskError> {
        let mut task = format!("Write the titles of the sections of a short article on {topic}.");
        if let Some(feedback) = feedback {
            task.push_str(&format!(" {feedback}"));
        }
        let sections = ask(&self.model, &Messages::from_iter([Message::user(task)])).await?;
        Ok((sections, outlines.unwrap_or(0) + 1))
    }
}

/// The verdict on an outline.
#[derive(Action)]
enum Gate {
    Valid,
    Invalid { feedback: String },
    Hopeless,
}

#[node(actions = Gate)]
fn check_outline(sections: &[String], outlines: u32) -> Gate {
    println!("outline: {}", sections.join(" / "));
    if sections.len() >= FEWEST_SECTIONS {
        Gate::Valid
    } else if outlines >= MOST_OUTLINES {
        Gate::Hopeless
    } else {
        let feedback = format!("There have to be at least {FEWEST_SECTIONS} sections.");
        Gate::Invalid { feedback }
    }
}

async fn written(model: &dyn Model, task: &str, text: &str) -> Result<String, ModelError> {
    let messages = Messages::from_iter([Message::system(task), Message::user(text)]);
    let reply = model.complete(&Request::new(&messages)).await?;
    Ok(reply.into_complete()?.content)
}

struct Draft {
    model: Arc<dyn Model>,
}

#[node(writes = draft)]
impl Draft {
    async fn exec(&self, topic: &str, sections: &[String]) -> Result<String, ModelError> {
        let task =
            format!("Write an article on {topic} with these sections, in two sentences each.");
        written(&*self.model, &task, &sections.join("\n")).await
    }
}

struct Polish {
    model: Arc<dyn Model>,
}

#[node(writes = article)]
impl Polish {
    async fn exec(&self, draft: &str) -> Result<String, ModelError> {
        let task = "Make the article livelier. Keep what it says, and how it is divided.";
        written(&*self.model, task, draft).await
    }
}

flow! {
    /// Writes an article: outline, gate, draft, polish.
    PromptChaining(topic: String) -> (article: Option<String>) {
        node outline: Outline;
        node draft: Draft;
        node polish: Polish;

        start >> outline >> check_outline;
        check_outline - "invalid"  >> outline;
        check_outline - "hopeless" >> end("hopeless");
        check_outline - "valid"    >> draft >> polish >> end;
    }
}

/// Sample replies of a model that is lazy at first.
fn script() -> ScriptedModel {
    ScriptedModel::new()
        .text(r#"["What is tea?", "How we came to tea"]"#)
        .text(r#"["What is tea?", "How we came to tea", "Where next with tea?"]"#)
        .text("What is tea? Leaves in water. How we came to tea: by ship. Where next? Nobody knows.")
        .text("Tea is leaves, water and patience. It came by ship, and nobody knows where it goes next.")
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let chosen = flow_examples::model(script())?;
    let model = || Arc::clone(&chosen.model);
    let chain = PromptChaining::builder()
        .outline(Outline { model: model() })
        .draft(Draft { model: model() })
        .polish(Polish { model: model() })
        .build();
    let topic = "tea".to_owned();
    let output = chain.run(PromptChainingInput { topic }).await?;
    println!(
        "\n{}",
        output.article.as_deref().unwrap_or("There is no article.")
    );
    if let Some(script) = chosen.script {
        script.assert_used();
        let asked: Vec<String> = script
            .requests()
            .iter()
            .filter_map(|request| request.messages.last().map(Message::text))
            .collect();
        assert!(asked[1].ends_with("There have to be at least 3 sections."));
        assert_eq!(
            asked[2],
            "What is tea?\nHow we came to tea\nWhere next with tea?"
        );
        assert!(output.article.is_some_and(|it| it.starts_with("Tea is")));
    }
    Ok(())
}

#[cfg(all(test, feature = "documents"))]
#[path = "law/prompt_chaining.rs"]
mod law;
