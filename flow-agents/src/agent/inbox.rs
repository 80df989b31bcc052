//! What people say while an agent works.

use std::error::Error;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

use crate::message::Message;
use crate::messages::Messages;

/// Where an agent finds what people say while it works.
#[async_trait]
pub trait Inbox: Send + Sync {
    /// The messages that have come since the last time, in order; they are not returned again.
    ///
    /// In a durable run, the step that asks has an [id](Context::step_id), which begins with that of the
    /// execution, and by which a step that is repeated after a crash can be recognised.
    ///
    /// # Errors
    /// The messages could not be read. The agent fails.
    async fn take(&self, cx: &Context) -> Result<Vec<Message>, Box<dyn Error + Send + Sync>>;
}

/// Messages that wait in this process for one agent. They are read behind the results of tools: what is
/// sent while the last answer comes waits for the next run. If the process ends, those that wait are
/// lost, and so are those that were taken by a step that is not recorded.
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
    /// A queue without messages. Its copies are the same queue.
    pub fn new() -> MessageQueue {
        MessageQueue::default()
    }

    /// Adds what a person says.
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

/// A node that adds to the messages what people have said meanwhile: see [`Heard`] for its actions. By
/// default nobody is listened to.
#[derive(Clone, Default)]
pub struct Listen(Option<Arc<dyn Inbox>>);

impl Listen {
    /// Adds what comes from here.
    pub fn to(inbox: impl Inbox + 'static) -> Listen {
        Listen(Some(Arc::new(inbox)))
    }
}

impl fmt::Debug for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Listen").field(&self.0.is_some()).finish()
    }
}

/// Whether people have said something.
#[derive(Debug, Clone, PartialEq, Action, Serialize, Deserialize)]
pub enum Heard {
    /// They have.
    Heard {
        /// The messages, with what they have said behind them.
        messages: Messages,
    },
    /// They have not.
    Nothing,
}

#[node(actions = Heard)]
impl Listen {
    async fn exec(
        &self,
        cx: &Context,
        messages: &Messages,
    ) -> Result<Heard, Box<dyn Error + Send + Sync>> {
        let Some(inbox) = &self.0 else {
            return Ok(Heard::Nothing);
        };
        let said = inbox.take(cx).await?;
        if said.is_empty() {
            return Ok(Heard::Nothing);
        }
        let mut messages = messages.clone();
        for message in said {
            messages.push(message);
        }
        Ok(Heard::Heard { messages })
    }
}
