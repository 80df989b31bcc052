//! Hints to other processes about writes to a store (feature `hints`), for stores with a server
//! that can pass on texts: [`Store::changes`](crate::Store::changes).
//!
//! One text covers the writes of some milliseconds and is sent after them. A listener may be
//! connected but never receive anything, for instance behind a pooler. It therefore sends itself a
//! test now and then, and reports hints as live only while these arrive.

use std::any::Any;
use std::fmt;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use uuid::Uuid;

use crate::{Change, Changes};

const RECORDS: u8 = 1;
const WORK: u8 = 2;

/// The time for which hints are gathered before they are sent.
const GATHER: Duration = Duration::from_millis(10);

/// The time within which a test has to arrive.
const ARRIVES: Duration = Duration::from_secs(5);

/// The interval between tests.
const TEST_EVERY: Duration = Duration::from_secs(30);

/// The delay before a reconnection after a lost connection.
const AGAIN_IF_LOST: Duration = Duration::from_secs(1);

/// The delay if nothing arrives, or listening is not permitted.
const AGAIN_IF_DEAF: Duration = Duration::from_secs(60);

/// A server that passes texts on to every process that listens.
#[async_trait]
pub trait Channel: Send + Sync + 'static {
    /// Sends a text to all listeners, including this process. A text that cannot be sent is lost.
    /// Returns in bounded time, when the text was sent or given up.
    async fn send(&self, text: &str);

    /// Starts listening.
    ///
    /// # Errors
    ///
    /// Listening is not possible at the moment, or not here.
    async fn listen(&self) -> Result<Heard, Unheard>;
}

/// A subscription to texts.
pub struct Heard {
    texts: mpsc::UnboundedReceiver<String>,
    _while_listening: Box<dyn Any + Send>,
}

impl Heard {
    /// Creates a subscription from the texts, which end with the connection. The other value is
    /// dropped when the listener stops.
    pub fn new(texts: mpsc::UnboundedReceiver<String>, while_listening: impl Any + Send) -> Heard {
        Heard {
            texts,
            _while_listening: Box::new(while_listening),
        }
    }
}

impl fmt::Debug for Heard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Heard").finish_non_exhaustive()
    }
}

/// The reason why no texts arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unheard {
    /// There is no connection. The next attempt follows in a second.
    Lost,
    /// Listening was refused, or nothing arrives. The next attempt follows in a minute.
    Deaf,
}

/// The kinds of things that were written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Written {
    /// [`Change::records`].
    pub records: bool,
    /// [`Change::work`].
    pub work: bool,
}

impl Written {
    fn bits(self) -> u8 {
        let mut bits = 0;
        if self.records {
            bits |= RECORDS;
        }
        if self.work {
            bits |= WORK;
        }
        bits
    }
}

/// Sends hints over a channel, and receives those of all processes while it has subscribers.
pub struct Hints<C> {
    channel: C,
    /// The kinds that are not sent yet.
    pending: AtomicU8,
    counts: watch::Sender<Counts>,
    listener: Mutex<Option<JoinHandle<()>>>,
}

/// The number of hints of each kind.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    records: u64,
    work: u64,
    is_live: bool,
}

impl Counts {
    fn add(&mut self, what: u8) {
        self.records += u64::from(what & RECORDS != 0);
        self.work += u64::from(what & WORK != 0);
    }
}

/// Allows the next write to send again, even if the task of this one is cancelled.
struct Pending<C> {
    hints: Arc<Hints<C>>,
    is_taken: bool,
}

impl<C> Pending<C> {
    fn take(&mut self) -> u8 {
        self.is_taken = true;
        self.hints.pending.swap(0, Ordering::AcqRel)
    }
}

impl<C> Drop for Pending<C> {
    fn drop(&mut self) {
        // Later hints belong to another task.
        if !self.is_taken {
            self.take();
        }
    }
}

impl<C> fmt::Debug for Hints<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hints").finish_non_exhaustive()
    }
}

impl<C: Channel> Hints<C> {
    /// Creates hints over this channel.
    pub fn new(channel: C) -> Arc<Hints<C>> {
        Arc::new(Hints {
            channel,
            pending: AtomicU8::new(0),
            counts: watch::Sender::new(Counts::default()),
            listener: Mutex::default(),
        })
    }

    /// Tells other processes soon that this was written. Their regular looks find writes whose
    /// hints are lost.
    ///
    /// # Panics
    ///
    /// Panics if called outside of a tokio runtime.
    pub fn tell(self: &Arc<Self>, written: Written) {
        let what = written.bits();
        if what == 0 || self.pending.fetch_or(what, Ordering::AcqRel) != 0 {
            return;
        }
        let mut pending = Pending {
            hints: self.clone(),
            is_taken: false,
        };
        tokio::spawn(async move {
            tokio::time::sleep(GATHER).await;
            let what = pending.take();
            pending.hints.channel.send(&what.to_string()).await;
        });
    }

    /// Subscribes to hints.
    pub fn changes(self: &Arc<Self>) -> Box<dyn Changes> {
        Box::new(Listened {
            hints: self.clone(),
            receiver: self.counts.subscribe(),
            seen: None,
        })
    }

    /// Starts the listener, unless it is running.
    fn keep_listening(self: &Arc<Self>) {
        let mut listener = self.listener.lock().unwrap_or_else(PoisonError::into_inner);
        // It also ends with its tokio runtime.
        if listener.as_ref().is_none_or(JoinHandle::is_finished) {
            let this = self.clone();
            *listener = Some(tokio::spawn(async move {
                let _not_live = NotLive(&this.counts);
                while !this.ends() {
                    tokio::select! {
                        () = this.counts.closed() => {}
                        () = this.listen_again_and_again() => {}
                    }
                }
            }));
        }
    }

    /// Returns `true` if nobody is subscribed. A later subscriber starts a new listener.
    fn ends(&self) -> bool {
        let mut listener = self.listener.lock().unwrap_or_else(PoisonError::into_inner);
        let ends = self.counts.receiver_count() == 0;
        if ends {
            *listener = None;
        }
        ends
    }

    async fn listen_again_and_again(&self) {
        loop {
            let unheard = match self.channel.listen().await {
                Ok(heard) => self.hear(heard).await,
                Err(unheard) => unheard,
            };
            set_deaf(&self.counts);
            let pause = match unheard {
                Unheard::Lost => AGAIN_IF_LOST,
                Unheard::Deaf => AGAIN_IF_DEAF,
            };
            tokio::time::sleep(pause).await;
        }
    }

    /// Listens until the connection is lost, or nothing arrives.
    async fn hear(&self, mut heard: Heard) -> Unheard {
        let mut is_known = false;
        let mut awaited = None;
        let mut at = Instant::now();
        loop {
            match tokio::time::timeout_at(at, heard.texts.recv()).await {
                Ok(None) => return Unheard::Lost,
                Ok(Some(text)) if awaited.as_ref() == Some(&text) => {
                    awaited = None;
                    at = Instant::now() + TEST_EVERY;
                    if !is_known {
                        is_known = true;
                        self.counts.send_modify(|counts| {
                            // Earlier hints were missed.
                            counts.add(RECORDS | WORK);
                            counts.is_live = true;
                        });
                    }
                }
                Ok(Some(text)) => {
                    // Tests of other processes are not numbers.
                    if let Ok(what) = text.parse() {
                        self.counts.send_modify(|counts| counts.add(what));
                    }
                }
                Err(_) if awaited.is_some() => return Unheard::Deaf,
                Err(_) => {
                    let test = format!("test {}", Uuid::new_v4());
                    self.channel.send(&test).await;
                    awaited = Some(test);
                    at = Instant::now() + ARRIVES;
                }
            }
        }
    }
}

fn set_deaf(counts: &watch::Sender<Counts>) {
    counts.send_if_modified(|counts| std::mem::take(&mut counts.is_live));
}

struct NotLive<'a>(&'a watch::Sender<Counts>);

impl Drop for NotLive<'_> {
    fn drop(&mut self) {
        set_deaf(self.0);
    }
}

/// The hints of one subscriber.
struct Listened<C> {
    hints: Arc<Hints<C>>,
    receiver: watch::Receiver<Counts>,
    /// The counts that were returned last, if any.
    seen: Option<Counts>,
}

#[async_trait]
impl<C: Channel> Changes for Listened<C> {
    async fn next(&mut self) -> Change {
        loop {
            self.hints.keep_listening();
            let heard = *self.receiver.borrow_and_update();
            let seen = self.seen.unwrap_or(Counts {
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
