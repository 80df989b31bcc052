//! The code of a careful programmer instead of an agent: a loop with a limit, over a `match` of the
//! tools.

use std::pin::Pin;

use agents_service::forecast;
use serde_json::Value;

/// A message of the conversation.
pub enum Message {
    User(String),
    Assistant(Reply),
    Tool { call: String, content: String },
}

/// The text of the model, and its calls of tools.
#[derive(Clone)]
pub struct Reply {
    pub content: String,
    pub calls: Vec<Call>,
}

#[derive(Clone)]
pub struct Call {
    pub id: String,
    pub tool: String,
    pub arguments: String,
}

/// A model, boxed so that it can be exchanged: a box costs nothing compared with a request.
pub trait Model: Send + Sync {
    fn complete<'a>(
        &'a self,
        messages: &'a [Message],
    ) -> Pin<Box<dyn Future<Output = Reply> + Send + 'a>>;
}

fn call_tool(call: &Call) -> Result<String, String> {
    let arguments: Value =
        serde_json::from_str(&call.arguments).map_err(|error| error.to_string())?;
    match call.tool.as_str() {
        "weather" => forecast(
            arguments["town"]
                .as_str()
                .ok_or("`town` has to be a text")?,
        ),
        other => Err(format!("there is no tool `{other}`")),
    }
}

pub async fn ask(model: &dyn Model, turns: u32, question: &str) -> Option<String> {
    let mut messages = vec![Message::User(question.to_owned())];
    for _ in 0..turns {
        let reply = model.complete(&messages).await;
        messages.push(Message::Assistant(reply.clone()));
        if reply.calls.is_empty() {
            return Some(reply.content);
        }
        for call in reply.calls {
            let content = call_tool(&call).unwrap_or_else(|error| format!("Error: {error}"));
            messages.push(Message::Tool {
                call: call.id,
                content,
            });
        }
    }
    None
}
