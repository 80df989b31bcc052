//! Messages from people while an agent works.

use std::error::Error;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

use crate::message::Message;

/// A source of messages from people while an agent works.
#[async_trait]
pub trait Inbox: Send + Sync {
    /// Takes the messages that have arrived since the last call, in order.
    ///
    /// In a durable run, the [id](Context::step_id) of the step identifies a step that is repeated
    /// after a crash. It begins with the id of the execution.
    ///
    /// # Errors
    /// The messages could not be read. The agent fails.
    async fn take(&self, cx: &Context) -> Result<Vec<Message>, Box<dyn Error + Send + Sync>>;
}

/// Messages that wait in this process for one agent. They are read after the results of tools: a
/// message that is sent during the last answer waits for the next run. If the process ends, waiting
/// messages are lost, and so are those taken by a step that is not recorded.
///
/// # Examples
/// ```
/// use flow_agents::agent::{Listen, MessageQueue};
///
/// let queue = MessageQueue::new();
/// let listen = Listen::to(queue.clone()); // the node of an agent
/// queue.send("Only pages in English, please.");
/// ```
#[derive(Debug, Clone, Default)]
pub struct MessageQueue(Arc<Mutex<Vec<Message>>>);

impl MessageQueue {
    /// Creates an empty queue. Clones share the same queue.
    pub fn new() -> MessageQueue {
        MessageQueue::default()
    }

    /// Adds a message from a person.
    pub fn send(&self, text: impl Into<String>) {
        let message = Message::user(text);
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.push(message);
    }
}

#[async_trait]
impl Inbox for MessageQueue {
    async fn take(&self, _: &Context) -> Result<Vec<Message>, Box<dyn Error + Send + Sync>> {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(std::mem::take(&mut *waiting))
    }
}

/// A node that adds messages from people to the conversation. Its actions are those of [`Heard`].
/// The default has no inbox.
#[derive(Clone, Default)]
pub struct Listen(Option<Arc<dyn Inbox>>);

impl Listen {
    /// Adds the messages from this source.
    pub fn to(inbox: impl Inbox + 'static) -> Listen {
        Listen(Some(Arc::new(inbox)))
    }
}

impl fmt::Debug for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Listen").field(&self.0.is_some()).finish()
    }
}

/// The result of listening to people.
#[derive(Debug, Clone, PartialEq, Action, Serialize, Deserialize)]
pub enum Heard {
    /// There are new messages.
    Heard {
        /// The new messages, which are added to the conversation.
        #[action(add)]
        messages: Vec<Message>,
    },
    /// There are no new messages.
    Nothing,
}

#[node(actions = Heard)]
impl Listen {
    async fn exec(&self, cx: &Context) -> Result<Heard, Box<dyn Error + Send + Sync>> {
        let Some(inbox) = &self.0 else {
            return Ok(Heard::Nothing);
        };
        let messages = inbox.take(cx).await?;
        if messages.is_empty() {
            return Ok(Heard::Nothing);
        }
        Ok(Heard::Heard { messages })
    }
}
