//! Documents that somebody has damaged: they are refused, or they run. Nothing panics.

use flow_loader::{Format, LoadedFlow, load};
use flow_runtime::engine::RunError;
use flow_runtime::prelude::*;
use flow_runtime::{Flow, Question};
use serde_json::{Value, json};

use super::damage::damage;
use super::*;

fn registered() -> flow_loader::Registry {
    registry![
        write,
        review,
        revise,
        count,
        split,
        join,
        halve,
        sum,
        say,
        failures,
        shaky,
        slow,
        double,
        shaky_twice,
        Approval,
        Order,
        price,
        Prefix = Prefix { text: "Re:".into() },
        Shout,
        pick,
        tell,
        shorten,
        fetch,
        stamp,
        note,
        letters,
        noted,
    ]
}

async fn run(flow: &LoadedFlow) -> Result<Value, RunError> {
    let input = json!({
        "topic": "crabs", "wanted": 8, "numbers": [2, 4], "number": 1, "amount": 3, "names": ["a"],
        "draft": "a draft", "other": "busy", "count": 2, "first": "c", "halves": [1], "reason": "why",
    });
    let answers = |question: &Question| match question.expected() {
        "Approval" => json!({ "Approved": { "by": "Ann" } }),
        _ => json!({ "count": 4 }),
    };
    let options = RunOptions::answer(answers).step_budget(50);
    flow.run_with(input, options).await
}

/// How many documents of each flow are damaged. `FLOW_LOADER_DAMAGED` makes it more.
fn rounds() -> usize {
    let given = std::env::var("FLOW_LOADER_DAMAGED");
    given
        .ok()
        .and_then(|given| given.parse().ok())
        .unwrap_or(300)
}

#[tokio::test(start_paused = true)]
async fn a_damaged_document_is_refused_or_runs() {
    let documents = [
        Article::SPEC,
        Labelled::SPEC,
        Halves::SPEC,
        Odd::SPEC,
        Shaky::SPEC,
        Power::SPEC,
        Outer::SPEC,
        Release::SPEC,
        Loud::SPEC,
        Picked::SPEC,
        Fetched::SPEC,
        Noted::SPEC,
        &named::by_name(Outer::SPEC),
        &named::by_name(Items::SPEC),
    ];
    let registry = registered().with(registry![Power, Item, Outer]);
    let mut random = fastrand::Rng::with_seed(7);
    let (mut refused, mut ran) = (0, 0);
    for document in documents {
        let sound: Value = serde_json::from_str(document).unwrap();
        for _ in 0..rounds() {
            let mut damaged = sound.clone();
            for _ in 0..random.usize(1..4) {
                damage(&mut damaged, &mut random);
            }
            let text = damaged.to_string();
            let Ok(flow) = load(&text, Format::Json, &registry) else {
                refused += 1;
                continue;
            };
            ran += 1;
            if let Err(RunError::Failed(failed)) = run(&flow).await {
                assert!(
                    !matches!(*failed, FlowError::Panicked { .. }),
                    "{failed}\n{text}"
                );
            }
        }
    }
    assert!(
        refused > rounds() && ran > rounds() / 4,
        "{refused} refused, {ran} ran"
    );
}
