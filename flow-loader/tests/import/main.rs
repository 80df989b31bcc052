//! Workflows of other tools: they are read, loaded with stand-ins for their agents, and run on every
//! engine.

mod builder;
#[path = "../law/damage.rs"]
mod damage;
mod damaged;
mod engine;
mod flow_definition;
mod open_agents;
mod page;
#[path = "../law/support.rs"]
mod support;

use flow_loader::{Format, LoadError, LoadedFlow, Registry, load};
use serde_json::{Value, json};

/// How a run ends, which is the same on every engine, and what an observer saw.
async fn run(
    flow: &LoadedFlow,
    input: Value,
    answers: Value,
) -> (Result<Value, String>, Vec<String>) {
    let [plain, observed, durable] = support::all(flow.clone(), &input, &answers).await;
    match (&observed.ended, &durable.ended) {
        (Ok(observed), Ok(durable)) => assert_eq!(observed, durable),
        (observed, durable) => assert!(observed.is_err() && durable.is_err(), "{durable:?}"),
    }
    // A plain run has nobody to ask.
    let asks = answers != json!({});
    assert!(asks || plain.ended == observed.ended, "{plain:?}");
    (observed.ended, observed.happened)
}

/// The nodes that finished, with their actions, without those in the middle of a path.
fn finished(happened: &[String]) -> Vec<String> {
    let finished = happened.iter().filter_map(|line| {
        let (path, action) = line.split_once(": finished ")?;
        let node = path.rsplit('.').next().unwrap_or(path);
        Some(match action {
            "default" => node.to_owned(),
            action => format!("{node} {action}"),
        })
    });
    finished.collect()
}

/// The first line of each problem of a workflow.
fn problems(text: &str, registry: &Registry) -> Vec<String> {
    let error: LoadError = load(text, Format::Json, registry).unwrap_err();
    let problems = error.problems().iter();
    problems
        .map(|problem| {
            problem
                .to_string()
                .lines()
                .next()
                .unwrap_or_default()
                .to_owned()
        })
        .collect()
}
