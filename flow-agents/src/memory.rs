//! What is kept of a long conversation.

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

/// What a summary begins with.
const BEFORE: &str = "What was said before, in short:\n";

const SUMMARIZE: &str = "Summarize the conversation below for the one who goes on with it. Keep names, \
    numbers, dates, decisions, what the user wants, and what is still open. Leave out greetings and what \
    was settled since.";

/// A node that shortens a long conversation: it reads `messages`, and writes `messages` with the newest of
/// them.
///
/// If the conversation has more tokens than it may, the oldest turns are left out until it has at most
/// half of that, so that not each turn has to be shortened. The last turn stays whatever its length, and so
/// does the message of the system. A turn is kept or left out as a whole: no call is parted from its result.
///
/// With a [model](Memory::summarized_by), what is left out is summarized in a message before the others,
/// together with the summary that there is.
///
/// Tokens are estimated: one for each four characters.
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
    /// Conversations of up to so many tokens are not shortened.
    pub fn of(tokens: u64) -> Memory {
        Memory {
            tokens,
            model: None,
        }
    }

    /// What is left out is summarized by this model. Without it, it is forgotten.
    pub fn summarized_by(mut self, model: impl Model + 'static) -> Memory {
        self.model = Some(Arc::new(model));
        self
    }

    /// How many messages are left out, of those without the message of the system.
    fn too_old(&self, messages: &[Message]) -> usize {
        let all = messages.iter().map(characters).sum();
        if tokens(all) <= self.tokens {
            return 0;
        }
        // Before each message, the characters from there to the end.
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
        // A turn that is too long by itself does not become shorter by another summary.
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

/// Messages as the model reads them that summarizes them. A text is one line, as JSON: it cannot look like what
/// somebody else has said.
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
