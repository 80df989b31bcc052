//! Thinking: a model makes a plan, and carries it out thought by thought. Each thought judges the
//! one before it, works on the first step that is not done, and returns the plan with its statuses.
//! A solution counts only if all steps are done. After ten thoughts, the run gives up.
//!
//! ```text
//! cargo run -p flow-examples --example thinking
//! cargo run -p flow-examples --features genai --example thinking -- --model ollama:qwen3:4b
//! ```

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use typed_flows::agents::{AskError, Message, Messages, Model, ScriptedModel, ask};
use typed_flows::prelude::*;

const PROBLEM: &str = "How many of the numbers from 1 to 100 are divisible by 3 or by 5?";
const MOST_THOUGHTS: usize = 10;

/// A step of the plan.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
struct Step {
    /// The task, in a few words.
    task: String,
    status: Status,
}

#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(tag = "is", rename_all = "snake_case")]
enum Status {
    Pending,
    Done {
        /// The result, in a few words.
        result: String,
    },
    /// It was done, and has to be done again.
    Wrong {
        /// The mistake.
        mistake: String,
    },
}

impl Step {
    fn is_done(&self) -> bool {
        matches!(self.status, Status::Done { .. })
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.status {
            Status::Pending => write!(f, "[pending] {}", self.task),
            Status::Done { result } => write!(f, "[done] {}: {result}", self.task),
            Status::Wrong { mistake } => write!(f, "[wrong] {}: {mistake}", self.task),
        }
    }
}

/// The plan, with a line for each step.
fn shown(plan: &[Step]) -> String {
    plan.iter().map(|step| format!("  {step}\n")).collect()
}

/// The judgement of the previous thought.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(tag = "is", rename_all = "snake_case")]
enum Evaluation {
    Right,
    Wrong {
        /// The mistake.
        mistake: String,
    },
}

/// A thought.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
struct Thought {
    /// The judgement of the previous thought, or of the plan if there is none.
    evaluation: Evaluation,
    /// The work on the first step that is not done.
    thinking: String,
    /// The whole plan after this thought.
    plan: Vec<Step>,
    /// The answer to the problem, if all steps are done.
    solution: Option<String>,
}

struct MakePlan {
    model: Arc<dyn Model>,
}

/// Asks the model for a plan.
#[node(writes = plan)]
impl MakePlan {
    async fn exec(&self, problem: &str) -> Result<Vec<Step>, AskError> {
        let messages = Messages::from_iter([
            Message::system("Plan how to solve the problem. The last step checks the result."),
            Message::user(problem),
        ]);
        let plan: Vec<Step> = ask(&self.model, &messages).await?;
        println!("{}", shown(&plan));
        Ok(plan)
    }
}

const TASK: &str = "You solve a problem by a plan, one thought at a time. First look for mistakes \
    in the previous thought, and mark the steps that are wrong because of them. Then work on the \
    first step that is not done, and on no other. Put several steps in its place if it is too \
    much for one thought.";

struct Think {
    model: Arc<dyn Model>,
}

/// Asks the model for the next thought.
#[node(writes(plan, +thoughts))]
impl Think {
    async fn exec(
        &self,
        problem: &str,
        plan: &[Step],
        thoughts: &[Thought],
        objection: Option<&str>,
    ) -> Result<(Vec<Step>, Thought), AskError> {
        let before = thoughts.iter().map(|it| format!("- {}\n", it.thinking));
        let told = format!(
            "Problem: {problem}\nThoughts:\n{}Plan:\n{}{}",
            before.collect::<String>(),
            shown(plan),
            objection.unwrap_or_default()
        );
        let messages = Messages::from_iter([Message::system(TASK), Message::user(told)]);
        let thought: Thought = ask(&self.model, &messages).await?;
        if let Evaluation::Wrong { mistake } = &thought.evaluation {
            println!("The last thought was wrong: {mistake}");
        }
        println!("{}. {}", thoughts.len() + 1, thought.thinking);
        println!("{}", shown(&thought.plan));
        Ok((thought.plan.clone(), thought))
    }
}

#[derive(Action)]
enum Decision {
    Solved { solution: String },
    Continue { objection: Option<String> },
    GiveUp { reason: String },
}

/// Decides whether another thought is needed.
#[node(actions = Decision)]
fn decide(plan: &[Step], thoughts: &[Thought]) -> Decision {
    let solution = thoughts.last().and_then(|it| it.solution.clone());
    let open = plan.iter().find(|step| !step.is_done());
    let objection = match (solution, open) {
        (Some(solution), None) => return Decision::Solved { solution },
        (Some(_), Some(Step { task, .. })) => Some(format!("No solution yet. Still open: {task}")),
        (None, None) => Some("All steps are done: give the solution.".to_owned()),
        (None, Some(_)) => None,
    };
    if thoughts.len() < MOST_THOUGHTS {
        return Decision::Continue { objection };
    }
    let reason = format!("no solution after {MOST_THOUGHTS} thoughts");
    Decision::GiveUp { reason }
}

/// Says why the model did not answer. The thoughts before are kept.
#[node(writes = reason)]
fn explain(error: &NodeError) -> String {
    format!("{error:#}")
}

flow! {
    /// Solves a problem thought by thought.
    Thinking(problem: String, thoughts: Vec<Thought> = Vec::new()) -> (
        thoughts: Vec<Thought>,
        solution: Option<String>,
        reason: Option<String>,
    ) {
        node make_plan: MakePlan;
        node think: Think;

        start >> make_plan >> think >> decide;
        decide    - "continue" >> think;
        decide    - "solved"   >> end;
        decide    - "give_up"  >> end("unsolved");
        make_plan - "error"    >> explain >> end("unsolved");
        think     - "error"    >> explain;
    }
}

/// Sample replies of a model: a plan, and six thoughts. The third one is wrong, and its solution
/// comes too early.
fn script() -> Result<ScriptedModel, serde_json::Error> {
    let replies: Vec<Value> = serde_json::from_str(include_str!("data/thoughts.json"))?;
    let replies = replies.iter().map(Value::to_string);
    Ok(replies.fold(ScriptedModel::new(), ScriptedModel::text))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let chosen = flow_examples::model(script()?)?;
    let model = || Arc::clone(&chosen.model);
    let flow = Thinking::builder()
        .make_plan(MakePlan { model: model() })
        .think(Think { model: model() })
        .build();
    println!("{PROBLEM}");
    let input = ThinkingInput::builder().problem(PROBLEM.to_owned()).build();
    let output = flow.run(input).await?;
    match (&output.solution, &output.reason) {
        (Some(solution), _) => println!("The solution: {solution}"),
        (None, reason) => println!("{}", reason.as_deref().unwrap_or("no solution")),
    }

    assert!(output.thoughts.len() <= MOST_THOUGHTS);
    if let Some(script) = chosen.script {
        script.assert_used();
        assert_eq!(output.solution.as_deref(), Some("47"));
        let wrong = |it: &Thought| matches!(it.evaluation, Evaluation::Wrong { .. });
        assert_eq!(output.thoughts.iter().position(wrong), Some(3));
        // The solution that came too early was refused.
        let told = |request: usize| script.requests()[request].messages[1].text();
        assert!(told(4).ends_with("No solution yet. Still open: Check with the numbers up to 15"));
        assert!(told(5).ends_with("[pending] Check with the numbers up to 15\n"));
    }
    Ok(())
}

#[cfg(all(test, feature = "documents"))]
#[path = "law/thinking.rs"]
mod law;
