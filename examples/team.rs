//! A team: a planner decides who works on a request. Two experts work on a technical request at the
//! same time. On any other, a person gives advice. Then the contributions are summed up.
//!
//! ```text
//! cargo run -p flow-examples --example team
//! cargo run -p flow-examples --features genai --example team -- --model ollama:qwen3:4b
//! ```

use std::error::Error;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use typed_flows::agents::{
    AskError, Message, Messages, Model, ModelError, Request, ScriptedModel, ask,
};
use typed_flows::prelude::*;

/// The kind of work of a request.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Kind {
    /// Engineers can do it.
    Technical,
    /// Somebody has to decide something first.
    Other,
}

/// A plan for a request.
#[derive(Clone, Deserialize, JsonSchema)]
struct Plan {
    /// The goal, in one sentence.
    goal: String,
    kind: Kind,
}

struct Planner {
    model: Arc<dyn Model>,
}

/// Plans the work on a request.
#[node(writes = plan)]
impl Planner {
    async fn exec(&self, request: &str) -> Result<Plan, AskError> {
        let messages = Messages::from_iter([
            Message::system("You lead a team. Plan how to go about the request."),
            Message::user(request),
        ]);
        ask(&self.model, &messages).await
    }
}

async fn told(model: &dyn Model, task: &str, text: String) -> Result<String, ModelError> {
    let messages = Messages::from_iter([Message::system(task), Message::user(text)]);
    let reply = model.complete(&Request::new(&messages)).await?;
    Ok(reply.into_complete()?.content)
}

/// An architect.
struct Architect {
    model: Arc<dyn Model>,
}

/// Says how to build it.
#[node(writes = design)]
impl Architect {
    async fn exec(&self, plan: &Plan) -> Result<String, ModelError> {
        told(
            &self.model,
            "Say in one sentence how to build it.",
            plan.goal.clone(),
        )
        .await
    }
}

/// A tester.
struct Tester {
    model: Arc<dyn Model>,
}

/// Says how to test it.
#[node(writes = tests)]
impl Tester {
    async fn exec(&self, plan: &Plan) -> Result<String, ModelError> {
        told(
            &self.model,
            "Say in one sentence how to test it.",
            plan.goal.clone(),
        )
        .await
    }
}

/// The advice of a person.
#[node(human = "What do you advise about: {request}?")]
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Advice {
    text: String,
}

struct Summary {
    model: Arc<dyn Model>,
}

/// Sums up the contributions.
#[node(writes = summary)]
impl Summary {
    async fn exec(
        &self,
        plan: &Plan,
        design: Option<&String>,
        tests: Option<&String>,
        advice: Option<&Advice>,
    ) -> Result<String, ModelError> {
        let said = [design, tests, advice.map(|it| &it.text)];
        let said: Vec<&str> = said.into_iter().flatten().map(String::as_str).collect();
        let text = format!("{}\n{}", plan.goal, said.join("\n"));
        told(&self.model, "Sum up in one sentence.", text).await
    }
}

flow! {
    /// Works on a request.
    Team(request: String) -> (summary: String) {
        node planner: Planner;
        node architect: Architect;
        node tester: Tester;
        node summary: Summary;
        branch kind(plan) {
            matches!(plan.kind, Kind::Technical) => "technical",
            else => "other",
        }

        start >> planner >> kind;
        kind - "technical" >> [architect, tester] >> summary >> end;
        kind - "other"     >> Advice >> summary;
    }
}

/// Sample replies of a model.
fn script() -> ScriptedModel {
    ScriptedModel::new()
        .text(r#"{ "goal": "Exports are resumed after a crash.", "kind": "technical" }"#)
        .text("Keep the number of the last row that was written.")
        .text("Kill the export in the middle, and compare the file.")
        .text("Exports keep their place, which a test proves by killing one.")
        .text(r#"{ "goal": "Find out what the plan should cost.", "kind": "other" }"#)
        .text("Three customers are asked before the price is set.")
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let chosen = flow_examples::model(script())?;
    let model = || Arc::clone(&chosen.model);
    let flow = Team::builder()
        .planner(Planner { model: model() })
        .architect(Architect { model: model() })
        .tester(Tester { model: model() })
        .summary(Summary { model: model() })
        .build();
    let mut summaries = Vec::new();
    for request in [
        "Make exports survive a crash",
        "Set the price of the team plan",
    ] {
        println!("{request}:");
        // A real program asks at the terminal, or keeps the question in a store.
        let options = RunOptions::answer(|question: &typed_flows::Question| {
            println!("  {}", question.prompt());
            let text = "Ask three customers first.".to_owned();
            Advice { text }
        });
        let input = TeamInput {
            request: request.to_owned(),
        };
        let output = flow.run_with(input, options).await?;
        println!("  {}", output.summary);
        summaries.push(output.summary);
    }
    if let Some(script) = chosen.script {
        script.assert_used();
        assert!(summaries[1].starts_with("Three customers are asked"));
        let told = script.requests().pop().map(|it| it.messages[1].text());
        assert!(told.is_some_and(|told| told.ends_with("\nAsk three customers first.")));
    }
    Ok(())
}

#[cfg(all(test, feature = "documents"))]
#[path = "law/team.rs"]
mod law;
