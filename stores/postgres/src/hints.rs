//! Hints to other processes, by NOTIFY.
//!
//! A writing transaction does not notify itself: NOTIFY locks the whole server until the commit.
//! One statement on a separate connection follows the commit. Through a pooler, LISTEN succeeds but
//! nothing arrives.

use std::time::Duration;

use async_trait::async_trait;
use deadpool_postgres::{Object, Pool};
use flow_store::hints::{Channel, Heard, Unheard};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_postgres::types::Type;
use tokio_postgres::{AsyncMessage, Config};

use super::database::{Tls, Value};

/// NOTIFY and LISTEN.
pub(super) struct Notifications {
    channel: String,
    /// The connection that sends.
    sender: Pool,
    /// The address to listen at.
    config: Config,
    tls: Tls,
    answer_timeout: Duration,
}

impl Notifications {
    /// Creates the channel of the schema with this number.
    pub(super) fn new(
        class: i32,
        sender: Pool,
        (config, tls): (Config, Tls),
        answer_timeout: Duration,
    ) -> Notifications {
        Notifications {
            channel: format!("flow_{class:08x}"),
            sender,
            config,
            tls,
            answer_timeout,
        }
    }
}

#[async_trait]
impl Channel for Notifications {
    async fn send(&self, text: &str) {
        let client = tokio::time::timeout(self.answer_timeout, self.sender.get()).await;
        let Ok(Ok(client)) = client else {
            return;
        };
        let sql = "SELECT pg_notify($1, $2)";
        let values: [Value<'_>; 2] = [(&self.channel, Type::TEXT), (&text, Type::TEXT)];
        let sent = client.query_typed(sql, &values);
        if tokio::time::timeout(self.answer_timeout, sent)
            .await
            .is_err()
        {
            // The next call on it would wait too.
            drop(Object::take(client));
        }
    }

    async fn listen(&self) -> Result<Heard, Unheard> {
        let connect = self.config.connect(Tls::clone(&self.tls));
        let connected = tokio::time::timeout(self.answer_timeout, connect).await;
        let Ok(Ok((client, mut connection))) = connected else {
            return Err(Unheard::Lost);
        };
        let (to, arrived) = mpsc::unbounded_channel();
        let driver = AbortOnDrop(tokio::spawn(async move {
            // Ends with the connection.
            while let Some(Ok(message)) =
                std::future::poll_fn(|cx| connection.poll_message(cx)).await
            {
                if let AsyncMessage::Notification(notification) = message
                    && to.send(notification.payload().to_owned()).is_err()
                {
                    return;
                }
            }
        }));
        let listen = format!("LISTEN {}", self.channel);
        let began = tokio::time::timeout(self.answer_timeout, client.batch_execute(&listen)).await;
        if !matches!(began, Ok(Ok(()))) {
            return Err(Unheard::Lost);
        }
        Ok(Heard::new(arrived, (driver, client)))
    }
}

struct AbortOnDrop(JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}
