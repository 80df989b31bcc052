//! A node that shortens long conversations.

use std::fmt;
use std::fmt::Write as _;
use std::sync::Arc;

use flow_runtime::prelude::*;

use crate::asked::asked;
use crate::error::ModelError;
use crate::estimate::{characters, tokens};
use crate::message::Message;
use crate::messages::Messages;
use crate::model::{Model, Request};

/// The beginning of a summary.
const BEFORE: &str = "What was said before, in short:\n";

const SUMMARIZE: &str = "Summarize the conversation below for the one who goes on with it. Keep names, \
    numbers, dates, decisions, what the user wants, and what is still open. Leave out greetings and what \
    was settled since.";

/// A node that shortens a long conversation: it reads `messages`, and writes `messages` with only
/// the newest.
///
/// If the conversation exceeds the limit of tokens, the oldest turns are dropped until it has at
/// most half of that. So it is not shortened again with each turn. The system message and the last
/// turn always stay, whatever their length. A turn stays or goes as a whole: no call is separated
/// from its result.
///
/// With a [model](Memory::summarized_by), a message before the others summarizes the dropped turns,
/// together with the existing summary.
///
/// Tokens are estimated: one for every four characters.
///
/// # Examples
/// ```
/// use flow_agents::{Memory, Message, Messages, ScriptedModel};
/// use flow_runtime::prelude::*;
///
/// flow! {
///     Shorten(messages: Messages) -> (messages: Messages) {
///         node memory: Memory;
///         start >> memory >> end;
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), FlowError> {
/// let model = ScriptedModel::new().text("The user is called Ann.");
/// let flow = Shorten::builder().memory(Memory::of(20).summarized_by(model)).build();
/// let messages = Messages::from_iter([
///     Message::user("Hello, my name is Ann. How is the weather today?"),
///     Message::assistant("Hello, Ann. It rains."),
///     Message::user("And tomorrow?"),
/// ]);
/// let messages = flow.run(ShortenInput { messages }).await?.messages;
/// assert_eq!(
///     *messages,
///     [
///         Message::user("What was said before, in short:\nThe user is called Ann."),
///         Message::user("And tomorrow?"),
///     ]
/// );
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Memory {
    tokens: u64,
    model: Option<Arc<dyn Model>>,
}

impl Memory {
    /// Creates a memory that shortens conversations of more than this many tokens.
    pub fn of(tokens: u64) -> Memory {
        Memory {
            tokens,
            model: None,
        }
    }

    /// Summarizes dropped turns with this model. Without a model, they are lost.
    pub fn summarized_by(mut self, model: impl Model + 'static) -> Memory {
        self.model = Some(Arc::new(model));
        self
    }

    /// The number of messages to drop. `messages` excludes the system message.
    fn too_old(&self, messages: &[Message]) -> usize {
        let all = messages.iter().map(characters).sum();
        if tokens(all) <= self.tokens {
            return 0;
        }
        // At each message, the characters from there to the end.
        let mut left = all;
        let mut last = 0;
        for (at, message) in messages.iter().enumerate() {
            if at > 0 && matches!(message, Message::User { .. }) {
                if tokens(left) <= self.tokens / 2 {
                    return at;
                }
                last = at;
            }
            left -= characters(message);
        }
        last
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let model = self.model.as_ref().map(|model| model.about());
        f.debug_struct("Memory")
            .field("tokens", &self.tokens)
            .field("model", &model)
            .finish()
    }
}

#[node(writes = messages)]
impl Memory {
    async fn exec(&self, messages: Messages) -> Result<Messages, ModelError> {
        let system = matches!(messages.first(), Some(Message::System { .. }));
        let (system, others) = messages.split_at(usize::from(system));
        let too_old = self.too_old(others);
        if too_old == 0 {
            return Ok(messages);
        }
        let (before, kept) = others.split_at(too_old);
        // Another summary does not shorten a turn that is too long by itself.
        if matches!(before, [summary] if summary.text().starts_with(BEFORE)) {
            return Ok(messages);
        }
        let mut shortened = Messages::from_iter(system.iter().cloned());
        if let Some(model) = &self.model {
            let question = [Message::system(SUMMARIZE), Message::user(shown(before))];
            let request = Request::new(&Messages::from_iter(question));
            let reply = asked(&**model, &request, |_| {}).await?;
            let summary = reply.into_complete()?.content;
            if summary.trim().is_empty() {
                let source = "the summary of the conversation is empty".into();
                return Err(ModelError::Malformed { source });
            }
            shortened.push(Message::user(format!("{BEFORE}{}", summary.trim())));
        }
        kept.iter().cloned().for_each(|it| shortened.push(it));
        Ok(shortened)
    }
}

/// The messages as the summarizing model reads them. Each text is one line of JSON, so it cannot
/// look like a message of somebody else.
fn shown(messages: &[Message]) -> String {
    let mut shown = String::new();
    for (at, message) in messages.iter().enumerate() {
        let who = match message {
            Message::System { .. } => "System",
            Message::User { .. } => "User",
            Message::Assistant { .. } => "Assistant",
            Message::Tool { .. } => "Result",
        };
        let text = message.text();
        let summary = text.strip_prefix(BEFORE).filter(|_| at == 0);
        match summary {
            Some(summary) => {
                let _ = writeln!(shown, "{summary}");
            }
            None if text.is_empty() => {}
            None => {
                let _ = writeln!(shown, "{who}: {}", serde_json::Value::from(text));
            }
        }
        for call in message.tool_calls() {
            let _ = writeln!(shown, "{who} calls {}({})", call.name, call.arguments);
        }
    }
    shown.trim_end().to_owned()
}
