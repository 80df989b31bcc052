//! A conversation: messages in order, with the results of tools after their calls.
//!
//! The hard part is the results of tools. Providers refuse a result without its call and a call
//! without its result; some also refuse results in another order than their calls. Each write to
//! [`Messages`] keeps results behind their calls. Calls without a result are handled only when a
//! model is asked ([`Messages::for_model`]), since a result may still arrive until then.

use std::ops::Deref;
use std::slice;
use std::sync::Arc;

use flow_runtime::Accumulate;
use serde::{Deserialize, Serialize, Serializer};

use crate::log::warning;
use crate::message::{Message, Part, ToolCall};

/// The result of a call that has none, while other calls of its message have one.
pub const MISSING_RESULT: &str = "Error: the tool was called and returned no result";

/// The position of a text that [`Messages::add_system`] adds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Placement {
    /// After the existing text of the system.
    #[default]
    Append,
    /// Before the existing text of the system.
    Top,
    /// In place of the existing text of the system.
    Replace,
}

/// The messages of a conversation, in order.
///
/// - At most one message is a system message, and it comes first. Later system texts are appended
///   to it after a blank line.
/// - Tool results follow the message with their calls, in the order of the calls. A result without
///   a call, or a second result of one call, is dropped with a warning through `tracing`.
/// - All other messages stay as they were added. If a provider requires more, such as a person who
///   speaks first or alternating roles, its [`Model`](crate::Model) ensures it.
/// - Clones share the messages until one of them changes.
/// - Nodes add to them with [`+messages`](flow_runtime::language#adding-to-a-value): a [`Message`], an
///   `Option<Message>`, a `Vec<Message>` or [`Messages`]. Each is added as by
///   [`push`](Messages::push). [Outcomes of tools](crate::agent::ToolOutcome) are added as their
///   results.
///
/// # Examples
/// ```
/// use flow_agents::{Message, Messages};
///
/// let messages = Messages::from_iter([
///     Message::user("What is the weather?"),
///     Message::tool("call_9", "nobody asked for this"),
///     Message::system("Answer briefly."),
/// ]);
/// assert_eq!(
///     *messages,
///     [Message::system("Answer briefly."), Message::user("What is the weather?")]
/// );
/// ```
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(from = "Vec<Message>")]
pub struct Messages(Arc<Vec<Message>>);

impl Messages {
    /// A conversation without messages.
    pub fn new() -> Messages {
        Messages::default()
    }

    /// Adds a message at the end, or at the place where a message of its kind belongs.
    pub fn push(&mut self, message: Message) {
        match message {
            Message::System { content } => self.add_system(&content, Placement::Append),
            Message::Tool {
                ref tool_call_id, ..
            } => match self.place_of_result(tool_call_id) {
                Some(place) => self.list().insert(place, message),
                None => warn_of_result(tool_call_id),
            },
            // These move no other message.
            Message::User { .. } | Message::Assistant { .. } => self.list().push(message),
        }
    }

    /// Returns the messages for modification. They are copied if others share them.
    fn list(&mut self) -> &mut Vec<Message> {
        Arc::make_mut(&mut self.0)
    }

    /// The index for a new result: behind the nearest message with an open call of this id, in the
    /// order of its calls. Agrees with [`ordered`] without reading all messages.
    fn place_of_result(&self, id: &str) -> Option<usize> {
        let mut end = self.0.len();
        for (place, message) in self.0.iter().enumerate().rev() {
            if is_result(message) {
                continue;
            }
            let calls = message.tool_calls();
            let answers = answers(calls, &self.0[place + 1..end]);
            if let Some(call) = open_call(calls, &answers, id) {
                return Some(place + 1 + answers[..call].iter().flatten().count());
            }
            end = place;
        }
        None
    }

    /// Adds a text to the system message. An empty text changes nothing, whatever the placement.
    pub fn add_system(&mut self, text: &str, placement: Placement) {
        if text.is_empty() {
            return;
        }
        let list = self.list();
        match (list.first_mut(), placement) {
            (Some(Message::System { content }), Placement::Append) => {
                *content = format!("{content}\n\n{text}");
            }
            (Some(Message::System { content }), Placement::Top) => {
                *content = format!("{text}\n\n{content}");
            }
            (Some(Message::System { content }), Placement::Replace) => text.clone_into(content),
            _ => list.insert(0, Message::system(text)),
        }
    }

    /// Removes a part of the system message, from the first `begin` to the last `end`.
    #[cfg(any(feature = "knowledge", feature = "rag"))]
    pub(crate) fn remove_from_system(&mut self, begin: &str, end: &str) {
        let Some(Message::System { content }) = self.0.first() else {
            return;
        };
        let from = content.find(begin);
        let to = content.rfind(end).map(|at| at + end.len());
        let (Some(from), Some(to)) = (from, to.filter(|to| from.is_some_and(|from| from < *to)))
        else {
            return;
        };
        let parts = [content[..from].trim_end(), content[to..].trim_start()];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        let left = parts.join("\n\n");
        if left.is_empty() {
            self.list().remove(0);
        } else {
            self.add_system(&left, Placement::Replace);
        }
    }

    /// Adds a user message with this text.
    pub fn add_user(&mut self, text: impl Into<String>) {
        self.push(Message::user(text));
    }

    /// Adds the result of a call.
    pub fn add_result(&mut self, tool_call_id: impl Into<String>, content: impl Into<String>) {
        self.push(Message::tool(tool_call_id, content));
    }

    /// The open calls, without a result, of the last message that calls tools.
    pub fn pending_calls(&self) -> Vec<&ToolCall> {
        let calling = self.0.iter().rposition(|it| !it.tool_calls().is_empty());
        let Some(calling) = calling else {
            return Vec::new();
        };
        let calls = self.0[calling].tool_calls();
        let answers = answers(calls, &self.0[calling + 1..]);
        let open = calls.iter().zip(answers);
        open.filter_map(|(call, answer)| answer.is_none().then_some(call))
            .collect()
    }

    /// Returns the messages in a form that a model accepts.
    ///
    /// If some calls of a message have a result, the others get [`MISSING_RESULT`]. If none has
    /// one, the calls are left out and the text of their message stays. Empty messages are left
    /// out. If nothing has to change, the messages are shared and not copied.
    pub fn for_model(&self) -> Messages {
        if self.can_be_asked_with() {
            return self.clone();
        }
        let mut asked = Vec::with_capacity(self.0.len());
        let mut rest = self.0.as_slice();
        while let Some((message, behind)) = rest.split_first() {
            let results = behind.iter().take_while(|it| is_result(it)).count();
            let (results, behind) = behind.split_at(results);
            rest = behind;
            let calls = message.tool_calls();
            if !calls.is_empty() && results.is_empty() {
                let text = Message::assistant(message.text());
                if !is_empty(&text) {
                    asked.push(text);
                }
                continue;
            }
            if is_empty(message) {
                continue;
            }
            asked.push(message.clone());
            let answers = calls.iter().zip(answers(calls, results));
            asked.extend(
                answers.map(|(call, answer)| {
                    Message::tool(&call.id, answer.unwrap_or(MISSING_RESULT))
                }),
            );
        }
        Messages(Arc::new(asked))
    }

    /// Returns `true` if no message is empty and each call has a result.
    fn can_be_asked_with(&self) -> bool {
        let mut open = 0;
        for message in self {
            if is_result(message) {
                open -= 1;
            } else if open > 0 || is_empty(message) {
                return false;
            } else {
                open = message.tool_calls().len();
            }
        }
        open == 0
    }
}

fn warn_of_result(tool_call_id: &str) {
    warning!(
        "a tool's result without a call is dropped",
        tool_call_id = tool_call_id,
    );
}

fn is_empty(message: &Message) -> bool {
    match message {
        Message::System { content } => content.is_empty(),
        Message::User { content } => !content.iter().any(says_something),
        Message::Assistant {
            content,
            tool_calls,
        } => content.is_empty() && tool_calls.is_empty(),
        Message::Tool { .. } => false,
    }
}

fn says_something(part: &Part) -> bool {
    match part {
        Part::Text(text) => !text.is_empty(),
        Part::Image(_) => true,
    }
}

fn is_result(message: &Message) -> bool {
    matches!(message, Message::Tool { .. })
}

/// The call of one message to which a result with this id belongs: the first without an answer.
/// Some models give several calls of a message the same id.
fn open_call<T>(calls: &[ToolCall], answers: &[Option<T>], id: &str) -> Option<usize> {
    let mut calls = calls.iter().zip(answers);
    calls.position(|(call, answer)| call.id == id && answer.is_none())
}

/// Finds the results of a message's calls in the messages behind it, in the order of the calls.
fn answers<'a>(calls: &[ToolCall], behind: &'a [Message]) -> Vec<Option<&'a str>> {
    let mut answers = vec![None; calls.len()];
    for message in behind {
        if let Message::Tool {
            tool_call_id,
            content,
        } = message
            && let Some(call) = open_call(calls, &answers, tool_call_id)
        {
            answers[call] = Some(content.as_str());
        }
    }
    answers
}

/// Moves results behind their calls, in the order of the calls.
///
/// Messages may repeat ids: some providers count the calls of each message from zero. So a result
/// belongs to the nearest open call before it or, without one, to the nearest behind it.
fn ordered(messages: Vec<Message>) -> Vec<Message> {
    let (mut others, mut results) = (Vec::new(), Vec::new());
    for message in messages {
        match message {
            Message::Tool {
                tool_call_id,
                content,
            } => results.push((others.len(), tool_call_id, content)),
            other => others.push(other),
        }
    }
    let mut answers: Vec<Vec<Option<String>>> = others
        .iter()
        .map(|message: &Message| vec![None; message.tool_calls().len()])
        .collect();
    for (place, id, content) in results {
        let nearest = (0..place).rev().chain(place..others.len());
        let free = nearest.into_iter().find_map(|message| {
            let call = open_call(others[message].tool_calls(), &answers[message], &id);
            call.map(|call| (message, call))
        });
        match free {
            Some((message, call)) => answers[message][call] = Some(content),
            None => warn_of_result(&id),
        }
    }
    let mut ordered = Vec::new();
    for (message, answers) in others.into_iter().zip(answers) {
        let ids = message.tool_calls().iter().map(|call| call.id.clone());
        let answers = ids.zip(answers).collect::<Vec<_>>();
        ordered.push(message);
        let given = answers
            .into_iter()
            .filter_map(|(id, answer)| Some((id, answer?)));
        ordered.extend(given.map(|(id, content)| Message::tool(id, content)));
    }
    ordered
}

/// Returns `true` if messages are in the order of [`ordered`], with at most one of the system, at
/// the beginning. Conversations that were serialized before are in this order.
fn are_in_order(messages: &[Message]) -> bool {
    let rest = match messages {
        [Message::System { content }, rest @ ..] if !content.is_empty() => rest,
        messages => messages,
    };
    let mut calls: &[ToolCall] = &[];
    for message in rest {
        match message {
            Message::System { .. } => return false,
            Message::Tool { tool_call_id, .. } => match calls {
                [call, behind @ ..] if call.id == *tool_call_id => calls = behind,
                // Not the result of the next call: finding its call takes all messages.
                _ => return false,
            },
            other => calls = other.tool_calls(),
        }
    }
    true
}

impl From<Vec<Message>> for Messages {
    fn from(messages: Vec<Message>) -> Messages {
        if are_in_order(&messages) {
            return Messages(Arc::new(messages));
        }
        let mut system = Messages::new();
        let mut others = Vec::with_capacity(messages.len());
        for message in messages {
            match message {
                Message::System { content } => system.add_system(&content, Placement::Append),
                other => others.push(other),
            }
        }
        system.list().extend(ordered(others));
        system
    }
}

impl FromIterator<Message> for Messages {
    fn from_iter<I: IntoIterator<Item = Message>>(messages: I) -> Messages {
        Messages::from(messages.into_iter().collect::<Vec<_>>())
    }
}

/// Adds a message as [`Messages::push`] does.
impl Accumulate<Message> for Messages {
    fn add(&mut self, message: Message) {
        self.push(message);
    }
}

/// Adds a message as [`Messages::push`] does, if there is one.
impl Accumulate<Option<Message>> for Messages {
    fn add(&mut self, message: Option<Message>) {
        self.extend(message);
    }
}

/// Adds messages as [`Messages::push`] does, in their order.
impl Accumulate<Vec<Message>> for Messages {
    fn add(&mut self, messages: Vec<Message>) {
        self.extend(messages);
    }
}

/// Adds messages as [`Messages::push`] does, in their order.
impl Accumulate<Messages> for Messages {
    fn add(&mut self, messages: Messages) {
        self.extend(Arc::unwrap_or_clone(messages.0));
    }
}

/// Adds messages as [`Messages::push`] does, in their order.
impl Extend<Message> for Messages {
    fn extend<I: IntoIterator<Item = Message>>(&mut self, messages: I) {
        messages.into_iter().for_each(|message| self.push(message));
    }
}

impl Deref for Messages {
    type Target = [Message];

    fn deref(&self) -> &[Message] {
        &self.0
    }
}

impl<'a> IntoIterator for &'a Messages {
    type Item = &'a Message;
    type IntoIter = slice::Iter<'a, Message>;

    fn into_iter(self) -> slice::Iter<'a, Message> {
        self.0.iter()
    }
}

impl Serialize for Messages {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.as_slice().serialize(serializer)
    }
}
