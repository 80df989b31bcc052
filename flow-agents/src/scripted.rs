//! A model for tests, with a script of answers.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use crate::about::AboutModel;
use crate::error::ModelError;
use crate::message::ToolCall;
use crate::model::{Model, Reply, Request};
use crate::usage::Usage;

/// A model that returns the replies of a script, one for each request.
///
/// # Examples
/// ```
/// use flow_agents::{Messages, Message, Model, Request, ScriptedModel};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), flow_agents::ModelError> {
/// let model = ScriptedModel::new().text("It rains.");
/// let request = Request::new(&Messages::from_iter([Message::user("What is the weather?")]));
/// assert_eq!(model.complete(&request).await?.content, "It rains.");
/// assert_eq!(model.requests(), [request.clone()]);
///
/// let error = model.complete(&request).await.unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "this is request number 2 to the scripted model, and its script ends after number 1; the \
///      last message is \"What is the weather?\"",
/// );
/// # Ok(()) }
/// ```
#[derive(Debug, Default)]
pub struct ScriptedModel {
    script: Mutex<Script>,
}

#[derive(Debug, Default)]
struct Script {
    replies: VecDeque<Result<Reply, ModelError>>,
    length: usize,
    calls: usize,
    requests: Vec<Request>,
}

impl ScriptedModel {
    /// Creates a script without replies.
    pub fn new() -> ScriptedModel {
        ScriptedModel::default()
    }

    /// Adds a text to the script.
    pub fn text(self, content: impl Into<String>) -> ScriptedModel {
        let content = content.into();
        self.reply(Reply {
            content,
            ..Reply::default()
        })
    }

    /// Adds calls of tools to the script, by their names and arguments. The ids are numbered over
    /// the whole script: `call_1`, `call_2`, …
    pub fn calls<'a>(
        self,
        calls: impl IntoIterator<Item = (&'a str, serde_json::Value)>,
    ) -> ScriptedModel {
        let mut tool_calls = Vec::new();
        for (name, arguments) in calls {
            let mut script = self.script();
            script.calls += 1;
            let id = format!("call_{}", script.calls);
            tool_calls.push(ToolCall::new(id, name, &arguments));
        }
        self.reply(Reply {
            tool_calls,
            ..Reply::default()
        })
    }

    /// Adds a reply to the script.
    pub fn reply(self, reply: Reply) -> ScriptedModel {
        self.then(Ok(reply))
    }

    /// Adds a failure to the script.
    pub fn error(self, error: ModelError) -> ScriptedModel {
        self.then(Err(error))
    }

    /// Sets the tokens of the last reply. Without a reply, this changes nothing.
    pub fn usage(self, input_tokens: u64, output_tokens: u64) -> ScriptedModel {
        if let Some(Ok(reply)) = self.script().replies.back_mut() {
            reply.usage = Usage::new(input_tokens, output_tokens);
        }
        self
    }

    fn then(self, reply: Result<Reply, ModelError>) -> ScriptedModel {
        let mut script = self.script();
        script.replies.push_back(reply);
        script.length += 1;
        drop(script);
        self
    }

    /// The requests so far.
    pub fn requests(&self) -> Vec<Request> {
        self.script().requests.clone()
    }

    /// Asserts that the whole script was used, and nothing more.
    ///
    /// # Panics
    /// If replies are left, or if there were more requests than replies.
    #[track_caller]
    pub fn assert_used(&self) {
        let script = self.script();
        let (asked, replies) = (script.requests.len(), script.length);
        drop(script); // a panic with the lock held would hide this message behind another
        assert_eq!(
            asked, replies,
            "requests to the scripted model: {asked}; replies in its script: {replies}"
        );
    }

    /// Ignores poisoning: a test that panicked reports it itself.
    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Model for ScriptedModel {
    fn about(&self) -> AboutModel {
        AboutModel::new("", "scripted")
    }

    async fn complete(&self, request: &Request) -> Result<Reply, ModelError> {
        let mut script = self.script();
        script.requests.push(request.clone());
        let (asked, replies) = (script.requests.len(), script.length);
        script.replies.pop_front().unwrap_or_else(|| {
            let last = request.messages.last();
            Err(ModelError::ScriptEnded {
                asked,
                replies,
                last: last.map(|message| message.text()).unwrap_or_default(),
            })
        })
    }
}
