//! Agents with many turns: their journals record what a turn adds, and not the conversation again.

use std::sync::Mutex;

use async_trait::async_trait;
use flow_agents::agent::{
    Agent, AgentInput, ApprovedAgent, ApprovedAgentInput, ApprovedCall, CallTool, Listen,
    NeedsApproval, Think,
};
use flow_agents::{
    Message, Messages, Model, ModelError, Reply, Request, Stop, ToolCall, Usage, tools,
};
use flow_durable::{DurableFlow, RecordKind};
use flow_runtime::prelude::*;
use serde_json::{Value, json};

use crate::agents::Impatient;
use crate::support::{runtime, settled, store};

/// The characters of a page.
const PAGE: usize = 1500;

/// Reads a page.
#[node]
fn turn_page(number: u32) -> String {
    format!("{number:PAGE$}")
}

/// A model that reads a page in each turn except the last.
struct Reader {
    turns: u32,
    asked: Mutex<u32>,
}

#[async_trait]
impl Model for Reader {
    async fn complete(&self, _: &Request) -> Result<Reply, ModelError> {
        let turn = {
            let mut asked = self.asked.lock().unwrap();
            *asked += 1;
            *asked
        };
        let (text, calls) = if turn < self.turns {
            let arguments = json!({ "number": turn });
            let call = ToolCall::new(format!("call_{turn}"), "turn_page", &arguments);
            (format!("I read page {turn} before I answer."), vec![call])
        } else {
            ("I have read all of them.".to_owned(), Vec::new())
        };
        let usage = Usage::new(100, 10);
        Ok(Reply::new(text, calls, usage, Stop::Done))
    }
}

fn think(turns: u32) -> Think {
    let asked = Mutex::new(0);
    Think::new(Reader { turns, asked }, tools![turn_page]).turns(turns)
}

fn call_tool() -> CallTool {
    CallTool::new(tools![turn_page])
}

fn question() -> Messages {
    Messages::from_iter([Message::user("What do the pages say?")])
}

/// The sizes of an execution in bytes.
#[derive(Debug)]
struct Sizes {
    /// The conversation as JSON.
    conversation: usize,
    /// The payloads of the outcomes of steps.
    outcomes: usize,
    /// The payloads of the snapshots.
    snapshots: usize,
    /// The payloads of all records, with the output.
    journal: usize,
}

async fn sizes<F: DurableFlow>(flow: F, input: F::Input, turns: u32) -> Sizes {
    let runtime = runtime(store(), flow);
    let execution = settled::<F>(&runtime, input).await;
    let output = execution.output_json().unwrap().unwrap();
    assert_eq!(output["turns"], turns);
    let journal = execution.journal().await.unwrap();
    let of = |kind| {
        let records = journal.iter().filter(|record| record.kind == kind);
        records.map(|record| record.payload.len()).sum()
    };
    Sizes {
        conversation: output["messages"].to_string().len(),
        outcomes: of(RecordKind::Outcome),
        snapshots: of(RecordKind::Snapshot),
        journal: journal.iter().map(|record| record.payload.len()).sum(),
    }
}

async fn of_agent(turns: u32) -> Sizes {
    let agent = Agent::builder().think(think(turns)).call_tool(call_tool());
    let input = AgentInput::builder().messages(question()).build();
    sizes(agent.build(), input, turns).await
}

async fn of_approved_agent(turns: u32) -> Sizes {
    let approved_call = ApprovedCall::builder()
        .needs_approval(NeedsApproval::except(["turn_page"]))
        .call_tool(call_tool());
    let agent = ApprovedAgent::builder()
        .think(think(turns))
        .approved_call(approved_call.build());
    let input = ApprovedAgentInput::builder().messages(question()).build();
    sizes(agent.build(), input, turns).await
}

/// `--nocapture` shows the figures of `docs/agents.md`.
#[tokio::test(start_paused = true)]
async fn a_journal_grows_with_the_conversation_and_not_with_its_square() {
    let mut before: Option<Sizes> = None;
    for turns in [50, 100, 200, 400] {
        let sizes = of_agent(turns).await;
        println!("{turns} turns: {sizes:?}");
        assert!(sizes.outcomes * 10 < sizes.conversation * 12, "{sizes:?}");
        assert!(sizes.snapshots < 2 * sizes.journal / 3, "{sizes:?}");
        assert!(sizes.journal < 5 * sizes.conversation, "{sizes:?}");
        if let Some(before) = before {
            assert!(sizes.outcomes * 10 < before.outcomes * 21, "{sizes:?}");
        }
        before = Some(sizes);
    }
}

#[tokio::test(start_paused = true)]
async fn so_does_that_of_an_agent_that_may_ask_people() {
    let (half, whole) = (of_approved_agent(50).await, of_approved_agent(100).await);
    assert!(whole.outcomes * 10 < whole.conversation * 13, "{whole:?}");
    assert!(
        whole.outcomes * 10 < half.outcomes * 21,
        "{half:?} {whole:?}"
    );
    assert!(whole.journal < 5 * whole.conversation, "{whole:?}");
}

/// Each of the messages is in one outcome.
#[tokio::test(start_paused = true)]
async fn a_turn_records_what_it_adds() {
    let agent = Agent::builder().think(think(2)).call_tool(call_tool());
    let agent = agent.listen(Listen::to(Impatient)).build();
    let runtime = runtime(store(), agent);
    let input = AgentInput::builder().messages(question()).build();
    let execution = settled::<Agent>(&runtime, input).await;
    let output = execution.output::<Agent>().unwrap().unwrap();
    let texts: Vec<String> = output.messages.iter().map(Message::text).collect();
    assert_eq!(texts[3..], ["Quickly.", "I have read all of them."]);
    let journal = execution.journal().await.unwrap();
    let of = |step: &str| {
        let mut outcomes = journal
            .iter()
            .filter(|record| record.kind == RecordKind::Outcome && record.step == step);
        let record = outcomes.next().unwrap_or_else(|| panic!("no {step}"));
        serde_json::from_str::<Value>(&record.payload).unwrap()
    };
    let call = json!({ "id": "call_1", "name": "turn_page", "arguments": r#"{"number":1}"# });
    assert_eq!(
        of("agent.think")[0],
        json!({
            "role": "assistant",
            "content": "I read page 1 before I answer.",
            "tool_calls": [call],
        })
    );
    assert_eq!(of("agent.keep_results.count_failures"), json!({}));
    assert_eq!(
        of("agent.listen"),
        json!({
            "Heard": {
                "messages": [{ "role": "user", "content": [{ "text": "Quickly." }] }],
            },
        })
    );
    for (step, expected) in [("agent.listen", 3), ("agent.think#2", 4)] {
        let seq = journal.iter().find(|it| it.step == step).unwrap().seq;
        let state = runtime.executions().state(execution.id(), seq).await;
        let messages = &state.unwrap().flows["agent"]["messages"];
        assert_eq!(messages.as_array().map(Vec::len), Some(expected));
    }
}

flow_law::law! {
    nodes: [turn_page],
    flows: [],
}
