//! Hints to other processes, by PUBLISH.
//!
//! They are sent after a write instead of in its script, so that one covers many writes. In a
//! cluster, every server passes them on.

use std::sync::{Mutex, PoisonError, Weak};

use async_trait::async_trait;
use flow_store::hints::{Channel, Heard, Unheard};
use redis::{PushInfo, PushKind};
use tokio::sync::mpsc;

use super::call::Call;
use super::database::Database;
use super::errors::Effect;
use super::reply;

/// PUBLISH and SUBSCRIBE.
pub(super) struct Messages {
    channel: String,
    /// The database, which owns these messages.
    database: Weak<Database>,
}

impl Messages {
    pub(super) fn new(channel: String, database: Weak<Database>) -> Messages {
        Messages { channel, database }
    }
}

#[async_trait]
impl Channel for Messages {
    async fn send(&self, text: &str) {
        if let Some(database) = self.database.upgrade() {
            let mut publish = redis::cmd("PUBLISH");
            publish.arg(&self.channel).arg(text);
            let _ = database.try_once(Call::Command(publish)).await;
        }
    }

    async fn listen(&self) -> Result<Heard, Unheard> {
        let database = self.database.upgrade().ok_or(Unheard::Lost)?;
        let (to, arrived) = mpsc::unbounded_channel();
        // The loss of the connection drops the sender, which ends the subscription.
        let to = Mutex::new(Some(to));
        let pushed = move |pushed: PushInfo| {
            let mut to = to.lock().unwrap_or_else(PoisonError::into_inner);
            if pushed.kind == PushKind::Disconnection {
                *to = None;
            }
            match (&*to, text_of(pushed)) {
                (Some(to), Some(text)) => to.send(text).map_err(drop),
                _ => Ok(()),
            }
        };
        let listening = database.connect_to_listen(pushed).await;
        let mut connection = listening.map_err(|_| Unheard::Lost)?;
        match database.answered(connection.subscribe(&self.channel)).await {
            Ok(()) => Ok(Heard::new(arrived, connection)),
            // A user of the keys may lack the permission to subscribe.
            Err(error) if error.effect() == Effect::Refused => Err(Unheard::Deaf),
            Err(_) => Err(Unheard::Lost),
        }
    }
}

/// Returns the published text, if this is one.
fn text_of(pushed: PushInfo) -> Option<String> {
    let text = pushed.data.into_iter().next_back()?;
    (pushed.kind == PushKind::Message)
        .then(|| reply::text(text))
        .flatten()
}
