//! Workflows that somebody has damaged: they are refused, or they run. Nothing panics.

use flow_loader::{Format, Registry, load};
use flow_runtime::engine::RunError;
use flow_runtime::prelude::*;
use serde_json::{Value, json};

use super::damage::damage;
use super::flow_definition::{RESEARCH, researchers};
use super::open_agents::{
    APPROVAL, CONDITION, PARALLEL, SEQUENTIAL, developers, measurers, operators, reviewers,
};

/// How many workflows of each kind are damaged. `FLOW_LOADER_DAMAGED` makes it more.
fn rounds() -> usize {
    let given = std::env::var("FLOW_LOADER_DAMAGED");
    given
        .ok()
        .and_then(|given| given.parse().ok())
        .unwrap_or(300)
}

fn workflows() -> [(&'static str, Registry); 5] {
    [
        (SEQUENTIAL, developers()),
        (APPROVAL, operators()),
        (PARALLEL, reviewers()),
        (CONDITION, measurers()),
        (RESEARCH, researchers()),
    ]
}

#[tokio::test(start_paused = true)]
async fn a_damaged_workflow_is_refused_or_runs() {
    let mut random = fastrand::Rng::with_seed(11);
    for (workflow, registry) in workflows() {
        let sound: Value = serde_json::from_str(workflow).unwrap();
        let (mut refused, mut ran) = (0, 0);
        for _ in 0..rounds() {
            let mut damaged = sound.clone();
            for _ in 0..random.usize(1..3) {
                damage(&mut damaged, &mut random);
            }
            let text = serde_json::to_string_pretty(&damaged).unwrap();
            let flow = match load(&text, Format::Json, &registry) {
                Ok(flow) => flow,
                Err(error) => {
                    refused += 1;
                    // Each problem is at something that was written.
                    let lines: Vec<&str> = text.lines().collect();
                    for problem in error.problems() {
                        let line = lines.get(problem.place.line - 1).unwrap_or(&"");
                        let column = problem.place.column;
                        let at = line.chars().nth(column - 1);
                        assert!(at.is_some_and(|at| at != ' '), "{problem}\n{text}");
                        assert!(
                            damaged.pointer(&problem.pointer).is_some(),
                            "{problem}\n{text}"
                        );
                    }
                    continue;
                }
            };
            ran += 1;
            let options = RunOptions::answer(|_: &flow_runtime::Question| json!("approve"));
            let input = json!({ "input": "search" });
            if let Err(RunError::Failed(failed)) =
                flow.run_with(input, options.step_budget(50)).await
            {
                let panicked = matches!(*failed, FlowError::Panicked { .. });
                assert!(!panicked, "{failed}\n{text}");
            }
        }
        assert!(
            refused > rounds() / 3 && ran > rounds() / 30,
            "{refused} refused, {ran} ran: {workflow}"
        );
    }
}

/// As text: cut off, and with other bytes, in both formats.
#[test]
fn any_bytes_are_read() {
    let mut random = fastrand::Rng::with_seed(13);
    for (workflow, registry) in workflows() {
        for _ in 0..rounds() {
            let mut bytes = workflow.as_bytes().to_vec();
            for _ in 0..random.usize(1..4) {
                let at = random.usize(..bytes.len());
                match random.u8(..3) {
                    0 => bytes[at] = b"{}[]\",:0-n\n \xff"[random.usize(..13)],
                    1 => drop(bytes.remove(at)),
                    _ => bytes.truncate(at + 1),
                }
            }
            for format in [Format::Json, Format::Yaml] {
                if let Err(error) = load(&bytes, format, &registry) {
                    assert!(!error.problems().is_empty());
                }
            }
        }
    }
}

/// The largest numbers that a workflow can have, and two thousand steps.
#[tokio::test(start_paused = true)]
async fn large_workflows_end_soon() {
    let most = 1_000_000_000_000_u64;
    let text = format!(
        r#"{{ "id": "x", "startNode": "ask", "initialState": {{ "topic": "x" }}, "nodes": [
            {{ "id": "ask", "type": "agent", "executeLLM": "find_sources", "maxRetries": 4294967294,
               "timeoutMs": {most}, "onSuccess": "pause" }},
            {{ "id": "pause", "type": "wait", "durationMs": {most} }}
        ] }}"#
    );
    let flow = load(text, Format::Json, &researchers()).unwrap();
    let deadline = std::time::Duration::from_secs(10);
    let ran = flow
        .run_with(json!({}), RunOptions::new().deadline(deadline))
        .await;
    let Err(RunError::Failed(failed)) = ran else {
        panic!("it waits for longer than ten seconds: {ran:?}")
    };
    assert!(matches!(*failed, FlowError::TimedOut { .. }), "{failed}");

    let step = |index: usize| {
        let next = if index == 1_999 {
            "end".to_owned()
        } else {
            format!("s{}", index + 1)
        };
        format!(
            r#"{{ "id": "s{index}", "type": "agent", "agent": "planner", "on_success": "{next}" }}"#
        )
    };
    let steps: Vec<String> = (0..2_000).map(step).collect();
    let text = format!(r#"{{ "id": "x", "steps": [{}] }}"#, steps.join(","));
    let flow = load(&text, Format::Json, &developers()).unwrap();
    let output = flow.run(json!({ "input": "much" })).await.unwrap();
    assert_eq!(output["s1999"], "a plan for much");
    let nowhere = text.replace("\"on_success\": \"s", "\"on_success\": \"z");
    let error = load(nowhere, Format::Json, &developers()).unwrap_err();
    assert_eq!(error.problems().len(), 101);
}
