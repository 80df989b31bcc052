//! An agent that asks a person before it calls some of its tools.

use std::collections::BTreeSet;

use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

use super::call_tool::CallTool;
use super::inbox::Listen;
use super::outcome::{Failures, ToolOutcome, ToolStatus};
use super::results::KeepResults;
use super::think::Think;
use crate::message::ToolCall;
use crate::messages::Messages;
use crate::model::Model;
use crate::spending::budget::Spent;
use crate::tools::Tools;

/// The decision about a tool call.
#[node(human = "Call {call}?")]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Approval {
    /// The tool is called.
    Approved,
    /// The tool is not called, and the model reads the reason.
    Rejected {
        /// The reason.
        reason: String,
    },
}

/// A node that decides whether a person is asked before a call. It reads `call` and the optional
/// `failures`, and takes the action `"ask"` or `"call"`.
///
/// # Examples
/// ```
/// use flow_agents::agent::NeedsApproval;
///
/// let always = NeedsApproval::always();
/// let some = NeedsApproval::of(["refund", "delete_account"]);
/// let most = NeedsApproval::except(["search"]);
/// ```
#[derive(Debug, Clone)]
pub struct NeedsApproval {
    tools: BTreeSet<String>,
    /// True if a person is asked about the tools of the set, false if about all others.
    of_these: bool,
    /// The node that makes the calls, if known.
    call_tool: Option<CallTool>,
}

/// The decision to ask a person or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Action, Serialize, Deserialize)]
pub enum Asked {
    /// A person is asked.
    Ask,
    /// The tool is called immediately.
    Call,
}

impl NeedsApproval {
    /// Asks a person before each call.
    pub fn always() -> NeedsApproval {
        NeedsApproval::except::<String>([])
    }

    /// Asks a person before calls of these tools. Prefer [`except`](NeedsApproval::except) where
    /// tools are added later: nobody is asked about tools that are not named here.
    pub fn of<N: Into<String>>(tools: impl IntoIterator<Item = N>) -> NeedsApproval {
        NeedsApproval {
            tools: tools.into_iter().map(Into::into).collect(),
            of_these: true,
            call_tool: None,
        }
    }

    /// Asks a person before calls of all tools except these.
    pub fn except<N: Into<String>>(tools: impl IntoIterator<Item = N>) -> NeedsApproval {
        NeedsApproval {
            tools: tools.into_iter().map(Into::into).collect(),
            of_these: false,
            call_tool: None,
        }
    }

    /// Skips the question for a call that this node refuses: the tool does not exist, its arguments
    /// do not fit, or the tool is stopped because of failures. The action is then `"call"`, so the
    /// model reads the problem immediately.
    pub fn unless_refused_by(mut self, call_tool: &CallTool) -> NeedsApproval {
        self.call_tool = Some(call_tool.clone());
        self
    }

    /// The first name that does not belong to these tools.
    fn unknown(&self, tools: &Tools) -> Option<&str> {
        let mut names = self.tools.iter().map(String::as_str);
        names.find(|name| tools.get(name).is_none())
    }
}

#[node(actions = Asked)]
impl NeedsApproval {
    fn exec(&self, cx: &Context, call: &ToolCall, failures: Option<&Failures>) -> Asked {
        let is_refused = |it: &CallTool| it.refuses(cx, call, failures);
        if self.tools.contains(&call.name) == self.of_these
            && !self.call_tool.as_ref().is_some_and(is_refused)
        {
            Asked::Ask
        } else {
            Asked::Call
        }
    }
}

/// The error for an approval setting with the name of an unknown tool.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("whether people are asked about `{name}` is said, and there is no tool of this name")]
#[non_exhaustive]
pub struct UnknownTool {
    /// The name.
    pub name: String,
}

/// The result of a rejected call, as the model reads it.
#[node(writes = result)]
pub fn rejected(call: &ToolCall, reason: &str) -> ToolOutcome {
    let text = format!("Error: a person rejected the call: {reason}");
    ToolOutcome::new(call, ToolStatus::Refused, text)
}

flow! {
    /// A call of a tool that may need the approval of a person.
    pub ApprovedCall(call: ToolCall, failures: Option<Failures>) -> (result: ToolOutcome) {
        node needs_approval: NeedsApproval;
        node call_tool: CallTool;

        start >> needs_approval;
        needs_approval - "call" >> call_tool >> end;
        needs_approval - "ask"  >> Approval;
        Approval - "approved" >> call_tool;
        Approval - "rejected" >> rejected >> end;
    }
}

flow! {
    /// An [`Agent`](crate::agent::Agent) that asks a person before it calls some of its tools.
    ///
    /// The calls of a turn are approved and made up to eight at a time; a waiting question occupies
    /// one of the places. The model reads the reasons of rejections.
    pub ApprovedAgent(messages: Messages, spent: Option<Spent>) -> (
        messages: Messages,
        answer: Option<String>,
        pending: Option<Vec<ToolCall>>,
        reason: Option<String>,
        exhausted: Option<String>,
        turns: u32,
        spent: Spent,
    ) {
        node think: Think;
        node approved_call: ApprovedCall;
        node listen: Listen;
        node results: for call in calls { approved_call } with concurrency(8);
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

impl ApprovedAgent {
    /// Creates an agent with this model and these tools, which asks before some of its calls. Its
    /// nodes have their defaults. Nobody is asked about a call that cannot be made.
    ///
    /// # Errors
    /// [`UnknownTool`] if `asks` names a tool that does not exist: a typo would disable the
    /// question.
    pub fn of(
        model: impl Model + 'static,
        tools: Tools,
        asks: NeedsApproval,
    ) -> Result<ApprovedAgent, UnknownTool> {
        if let Some(name) = asks.unknown(&tools) {
            let name = name.to_owned();
            return Err(UnknownTool { name });
        }
        let call_tool = CallTool::new(tools.clone());
        let approved_call = ApprovedCall::builder()
            .needs_approval(asks.unless_refused_by(&call_tool))
            .call_tool(call_tool)
            .build();
        Ok(ApprovedAgent::builder()
            .think(Think::new(model, tools))
            .approved_call(approved_call)
            .build())
    }
}
