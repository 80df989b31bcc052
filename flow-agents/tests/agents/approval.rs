//! About which calls a person is asked.

use flow_agents::agent::{CallTool, Failures, NeedsApproval};
use flow_agents::{ToolCall, tools};
use flow_runtime::prelude::*;
use serde_json::{Value, json};

/// Doubles a number.
#[node]
fn double(number: u32) -> Option<u32> {
    number.checked_mul(2)
}

/// The same, as a flow.
mod by_flow {
    use super::*;

    #[node(writes = result)]
    fn doubled(number: u32) -> u32 {
        number * 2
    }

    flow! {
        /// Doubles a number.
        pub DoubleByFlow(number: u32) -> (result: u32) {
            start >> doubled >> end;
        }
    }
}

flow! {
    IsAsked(call: ToolCall, failures: Option<Failures>) -> () {
        node needs_approval: NeedsApproval;
        start >> needs_approval;
        needs_approval - "ask"  >> end("ask");
        needs_approval - "call" >> end("call");
    }
}

async fn is_asked(tool: &str, arguments: Value, failures: u32) -> bool {
    let call_tool = CallTool::new(tools![double, by_flow::DoubleByFlow]);
    let needs_approval = NeedsApproval::always().unless_refused_by(&call_tool);
    let flow = IsAsked::builder().needs_approval(needs_approval).build();
    let call = ToolCall::new("call_1", tool, &arguments);
    let failures = Failures::from([(tool.to_owned(), failures)]);
    let input = IsAskedInput::builder()
        .call(call)
        .failures(failures)
        .build();
    flow.run(input).await.unwrap().end == IsAskedEnd::Ask
}

#[tokio::test]
async fn a_person_is_asked_about_calls_that_would_be_made() {
    for tool in ["double", "double_by_flow"] {
        assert!(is_asked(tool, json!({ "number": 2 }), 0).await, "{tool}");
        assert!(is_asked(tool, json!({ "number": 2 }), 2).await, "{tool}");
        // It has failed too often.
        assert!(!is_asked(tool, json!({ "number": 2 }), 3).await, "{tool}");
        for unfit in [
            json!({}),
            json!({ "number": -2 }),
            json!({ "number": 2, "digits": 3 }),
            json!(2),
        ] {
            assert!(!is_asked(tool, unfit.clone(), 0).await, "{tool} {unfit}");
        }
    }
    assert!(!is_asked("triple", json!({ "number": 2 }), 0).await);
}
