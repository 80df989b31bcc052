//! Hints to other processes, by NOTIFY.
//!
//! A transaction that writes notifies nobody: NOTIFY takes a lock of the whole server until the
//! commit. What was written within some milliseconds is told after it, by one statement on a
//! connection of its own. Through a pooler, LISTEN succeeds and nothing ever comes. So the listener
//! sends something to itself, by another connection, and says that there are hints only while that
//! arrives.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use deadpool_postgres::{Object, Pool};
use flow_store::{Change, Changes};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_postgres::types::Type;
use tokio_postgres::{AsyncMessage, Config};
use uuid::Uuid;

use super::database::Tls;

pub(super) const RECORDS: u8 = 1;
pub(super) const WORK: u8 = 2;

/// How long hints are gathered before they are sent.
const GATHER: Duration = Duration::from_millis(10);

/// How long one takes at most to come back.
const ARRIVES: Duration = Duration::from_secs(5);

/// How often it is tested that they arrive.
const TEST_EVERY: Duration = Duration::from_secs(30);

/// How long after a lost connection there is another one.
const AGAIN_IF_LOST: Duration = Duration::from_secs(1);

/// The same where nothing arrives, as through a pooler.
const AGAIN_IF_DEAF: Duration = Duration::from_secs(60);

/// Sends hints, and listens to those of all processes.
pub(super) struct Hints {
    /// Whether any are sent and listened to.
    are_on: bool,
    channel: String,
    /// What is to be told.
    pending: AtomicU8,
    /// The connection that sends.
    sender: Pool,
    /// Where to listen.
    config: Config,
    tls: Tls,
    answer_timeout: Duration,
    heard: watch::Sender<Heard>,
    listener: Mutex<Option<JoinHandle<()>>>,
}

/// What hints need.
pub(super) struct Options {
    /// Whether any are sent and listened to.
    pub(super) are_on: bool,
    /// The number of the schema.
    pub(super) class: i32,
    pub(super) sender: Pool,
    pub(super) listens_at: (Config, Tls),
    pub(super) answer_timeout: Duration,
}

/// How often was heard of what.
#[derive(Debug, Clone, Copy, Default)]
struct Heard {
    records: u64,
    work: u64,
    is_live: bool,
}

impl Heard {
    fn add(&mut self, what: u8) {
        self.records += u64::from(what & RECORDS != 0);
        self.work += u64::from(what & WORK != 0);
    }
}

/// Why a listener has ended.
enum Ended {
    Lost,
    Deaf,
}

/// Lets the next write send again, also if the task of this one has not come to its end.
struct Pending<'a>(&'a AtomicU8);

impl Pending<'_> {
    fn take(&self) -> u8 {
        self.0.swap(0, Ordering::AcqRel)
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        self.take();
    }
}

impl Hints {
    pub(super) fn new(options: Options) -> Arc<Hints> {
        let (config, tls) = options.listens_at;
        Arc::new(Hints {
            are_on: options.are_on,
            channel: format!("flow_{:08x}", options.class),
            pending: AtomicU8::new(0),
            sender: options.sender,
            config,
            tls,
            answer_timeout: options.answer_timeout,
            heard: watch::Sender::new(Heard::default()),
            listener: Mutex::default(),
        })
    }

    /// Tells other processes soon that this was written. What is lost on the way is found by those
    /// who look for it.
    pub(super) fn tell(self: &Arc<Self>, what: u8) {
        if !self.are_on || what == 0 || self.pending.fetch_or(what, Ordering::AcqRel) != 0 {
            return;
        }
        let this = self.clone();
        tokio::spawn(async move {
            let pending = Pending(&this.pending);
            tokio::time::sleep(GATHER).await;
            let what = pending.take();
            std::mem::forget(pending);
            this.send(&what.to_string()).await;
        });
    }

    async fn send(&self, text: &str) {
        let client = tokio::time::timeout(self.answer_timeout, self.sender.get()).await;
        let Ok(Ok(client)) = client else {
            return;
        };
        let sql = "SELECT pg_notify($1, $2)";
        let values: [super::database::Value<'_>; 2] =
            [(&self.channel, Type::TEXT), (&text, Type::TEXT)];
        let sent = client.query_typed(sql, &values);
        if tokio::time::timeout(self.answer_timeout, sent)
            .await
            .is_err()
        {
            // Whatever came next on it would wait too.
            drop(Object::take(client));
        }
    }

    /// The hints from now on. `None` if there are none.
    pub(super) fn changes(self: &Arc<Self>) -> Option<Box<dyn Changes>> {
        self.are_on.then(|| {
            Box::new(Listened {
                hints: self.clone(),
                receiver: self.heard.subscribe(),
                seen: None,
            }) as Box<dyn Changes>
        })
    }

    /// Begins to listen, unless somebody does.
    fn keep_listening(self: &Arc<Self>) {
        let mut listener = self.listener.lock().unwrap_or_else(PoisonError::into_inner);
        // It also ends with its tokio runtime.
        if listener.as_ref().is_none_or(JoinHandle::is_finished) {
            let this = self.clone();
            *listener = Some(tokio::spawn(async move {
                let _not_live = NotLive(&this.heard);
                while !this.ends() {
                    tokio::select! {
                        () = this.heard.closed() => {}
                        () = this.listen_again_and_again() => {}
                    }
                }
            }));
        }
    }

    /// Returns true if nobody wants to hear anything: who does later begins to listen anew.
    fn ends(&self) -> bool {
        let mut listener = self.listener.lock().unwrap_or_else(PoisonError::into_inner);
        let ends = self.heard.receiver_count() == 0;
        if ends {
            *listener = None;
        }
        ends
    }

    async fn listen_again_and_again(&self) {
        loop {
            let pause = match self.listen().await {
                Ended::Lost => AGAIN_IF_LOST,
                Ended::Deaf => AGAIN_IF_DEAF,
            };
            set_deaf(&self.heard);
            tokio::time::sleep(pause).await;
        }
    }

    /// Listens until the connection is lost, or nothing arrives.
    async fn listen(&self) -> Ended {
        let connect = self.config.connect(self.tls.clone());
        let connected = tokio::time::timeout(self.answer_timeout, connect).await;
        let Ok(Ok((client, mut connection))) = connected else {
            return Ended::Lost;
        };
        let (to, mut arrived) = mpsc::unbounded_channel();
        let driver = tokio::spawn(async move {
            // Ends when the connection does.
            while let Some(Ok(message)) =
                std::future::poll_fn(|cx| connection.poll_message(cx)).await
            {
                if let AsyncMessage::Notification(notification) = message
                    && to.send(notification.payload().to_owned()).is_err()
                {
                    return;
                }
            }
        });
        let _driver = AbortOnDrop(driver);
        let listen = format!("LISTEN {}", self.channel);
        let began = tokio::time::timeout(self.answer_timeout, client.batch_execute(&listen)).await;
        if !matches!(began, Ok(Ok(()))) {
            return Ended::Lost;
        }
        self.hear(&mut arrived).await
    }

    async fn hear(&self, arrived: &mut mpsc::UnboundedReceiver<String>) -> Ended {
        let mut is_known = false;
        let mut awaited = None;
        let mut at = Instant::now();
        loop {
            match tokio::time::timeout_at(at, arrived.recv()).await {
                Ok(None) => return Ended::Lost,
                Ok(Some(text)) if awaited.as_ref() == Some(&text) => {
                    awaited = None;
                    at = Instant::now() + TEST_EVERY;
                    if !is_known {
                        is_known = true;
                        self.heard.send_modify(|heard| {
                            // What came before was not heard.
                            heard.add(RECORDS | WORK);
                            heard.is_live = true;
                        });
                    }
                }
                Ok(Some(text)) => {
                    // The tests of other processes are no numbers.
                    if let Ok(what) = text.parse() {
                        self.heard.send_modify(|heard| heard.add(what));
                    }
                }
                Err(_) if awaited.is_some() => return Ended::Deaf,
                Err(_) => {
                    let test = format!("test {}", Uuid::new_v4());
                    self.send(&test).await;
                    awaited = Some(test);
                    at = Instant::now() + ARRIVES;
                }
            }
        }
    }
}

fn set_deaf(heard: &watch::Sender<Heard>) {
    heard.send_if_modified(|heard| std::mem::take(&mut heard.is_live));
}

struct NotLive<'a>(&'a watch::Sender<Heard>);

impl Drop for NotLive<'_> {
    fn drop(&mut self) {
        set_deaf(self.0);
    }
}

struct AbortOnDrop(JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// What somebody has heard.
struct Listened {
    hints: Arc<Hints>,
    receiver: watch::Receiver<Heard>,
    /// What was returned last. `None` if nothing was.
    seen: Option<Heard>,
}

#[async_trait]
impl Changes for Listened {
    async fn next(&mut self) -> Change {
        loop {
            self.hints.keep_listening();
            let heard = *self.receiver.borrow_and_update();
            let seen = self.seen.unwrap_or(Heard {
                is_live: false,
                ..heard
            });
            let change = Change {
                records: heard.records != seen.records,
                work: heard.work != seen.work,
                is_live: heard.is_live,
            };
            self.seen = Some(heard);
            if change.records || change.work || heard.is_live != seen.is_live {
                return change;
            }
            // The sender is in `hints`.
            let _ = self.receiver.changed().await;
        }
    }
}
