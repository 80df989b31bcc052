//! The model that answers immediately, for our agent and for the loop by hand.

use std::pin::Pin;

use agents_service::{ANSWER, calls_the_tool, happens};
use async_trait::async_trait;
use serde_json::json;
use typed_flows::agents::{Model, ModelError, Reply, Request, Stop, ToolCall, Usage};

use crate::by_hand;

/// A model that calls the tool in this many turns, and then answers.
pub(crate) struct AtOnce {
    pub(crate) turns: usize,
}

#[async_trait]
impl Model for AtOnce {
    async fn complete(&self, request: &Request) -> Result<Reply, ModelError> {
        happens("model");
        let asked = request.messages.len();
        let (text, calls) = if calls_the_tool(asked, self.turns) {
            let arguments = json!({ "town": "Bergen" });
            (
                "",
                vec![ToolCall::new(
                    format!("call_{asked}"),
                    "weather",
                    &arguments,
                )],
            )
        } else {
            (ANSWER, Vec::new())
        };
        Ok(Reply::new(text, calls, Usage::new(100, 10), Stop::Done))
    }
}

impl by_hand::Model for AtOnce {
    fn complete<'a>(
        &'a self,
        messages: &'a [by_hand::Message],
    ) -> Pin<Box<dyn Future<Output = by_hand::Reply> + Send + 'a>> {
        Box::pin(async move {
            let asked = messages.len();
            if !calls_the_tool(asked, self.turns) {
                return by_hand::Reply {
                    content: ANSWER.to_owned(),
                    calls: Vec::new(),
                };
            }
            let call = by_hand::Call {
                id: format!("call_{asked}"),
                tool: "weather".to_owned(),
                arguments: json!({ "town": "Bergen" }).to_string(),
            };
            by_hand::Reply {
                content: String::new(),
                calls: vec![call],
            }
        })
    }
}
