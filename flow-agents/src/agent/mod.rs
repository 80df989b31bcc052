//! An agent: a model that calls tools until it has an answer. A flow whose nodes others can use.

mod approval;
mod call_tool;
mod event;
mod inbox;
mod outcome;
mod results;
mod think;

use flow_runtime::prelude::*;

use crate::message::ToolCall;
use crate::messages::Messages;
use crate::model::Model;
use crate::spending::budget::Spent;
use crate::tools::Tools;

pub use approval::{
    Approval, ApprovedAgent, ApprovedAgentEnd, ApprovedAgentInput, ApprovedAgentOutcome,
    ApprovedAgentOutput, ApprovedCall, ApprovedCallInput, ApprovedCallOutput, Asked, NeedsApproval,
    UnknownTool, rejected,
};
pub use call_tool::CallTool;
pub use event::AgentEvent;
pub use inbox::{Heard, Inbox, Listen, MessageQueue};
pub use outcome::{Failures, ToolOutcome, ToolStatus};
pub use results::{KeepResults, KeepResultsInput, KeepResultsOutput, count_failures};
pub use think::{Think, Thought};

flow! {
    /// A model that calls tools until it has an answer.
    pub Agent(messages: Messages, spent: Option<Spent>) -> (
        messages: Messages,
        answer: Option<String>,
        pending: Option<Vec<ToolCall>>,
        reason: Option<String>,
        exhausted: Option<String>,
        turns: u32,
        spent: Spent,
    ) {
        node think: Think;
        node call_tool: CallTool;
        node listen: Listen;
        node results: for call in calls { call_tool } with concurrency(8);
        node keep_results: KeepResults { results -> +messages };

        start >> think;
        think - "call"       >> results >> keep_results >> listen;
        think - "done"       >> end;
        think - "incomplete" >> end("incomplete");
        think - "limit"      >> end("limit");
        think - "budget"     >> end("budget");
        listen - "heard"   >> think;
        listen - "nothing" >> think;
    }
}

impl Agent {
    /// Creates an agent with this model and these tools, and with the defaults of its nodes.
    pub fn of(model: impl Model + 'static, tools: Tools) -> Agent {
        Agent::builder()
            .think(Think::new(model, tools.clone()))
            .call_tool(CallTool::new(tools))
            .build()
    }
}
