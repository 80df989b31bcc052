//! Signals: messages from outside to a run, which nobody asked for.

use std::collections::VecDeque;
use std::error::Error;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use flow_spec::FlowDocument;
use serde_json::Value;
use tokio::sync::Notify;

use crate::external::{External, ExternalType, Submission as _, SubmittedValue};
use crate::step::Step;

/// A type of messages to a run: `#[node(signal)]` on an enum or a struct.
pub trait Signal: External + Step<Outcome = Self> {
    /// The values that a step writes when it takes the signal: the fields of a struct, or the
    /// signal itself.
    #[doc(hidden)]
    type Parts;

    /// Takes the signal apart.
    #[doc(hidden)]
    fn parts(self) -> Self::Parts;
}

/// Sends signals to a run in this process: see [`RunOptions::signals`](crate::RunOptions::signals).
///
/// A signal waits for its step: one that comes earlier is kept, and each visit of a step takes one,
/// in the order in which they were sent. For an execution of a durable run, see
/// `flow_durable::Executions::signal`.
///
/// # Examples
///
/// ```
/// use flow_runtime::prelude::*;
/// use flow_runtime::SignalSender;
/// use serde::{Deserialize, Serialize};
///
/// #[node(signal)]
/// #[derive(Serialize, Deserialize)]
/// struct Bid { amount: u32 }
///
/// #[node(writes = highest)]
/// fn raise(highest: u32, amount: u32) -> u32 { highest.max(amount) }
///
/// flow! {
///     Auction(highest: u32) -> (highest: u32) {
///         node next: first { Bid >> raise => "bid", wait(1h) => "over" };
///         start >> next;
///         next - "bid" >> next;
///         next - "over" >> end;
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)] async fn main() {
/// let auction = Auction::new();
/// let sender = SignalSender::new(&auction);
/// sender.send(Bid { amount: 30 }).unwrap();
/// sender.send(Bid { amount: 20 }).unwrap();
/// let options = RunOptions::new().signals(&sender);
/// let output = auction.run_with(AuctionInput { highest: 5 }, options).await.unwrap();
/// assert_eq!(output.highest, 30);
/// // Nobody takes it any more.
/// sender.send(Bid { amount: 40 }).unwrap_err();
/// # }
/// ```
#[derive(Clone)]
pub struct SignalSender {
    types: Arc<SignalTypes>,
    mailbox: Arc<Mailbox>,
}

/// The signals that were sent and not taken.
#[derive(Default)]
struct Mailbox {
    sent: Mutex<Sent>,
    /// Told when a signal is sent.
    came: Notify,
}

#[derive(Default)]
struct Sent {
    /// Each with its name.
    signals: VecDeque<(String, Value)>,
    /// The runs that take them. `None` before the first one.
    receiver: Option<Weak<SignalReceiver>>,
}

impl Mailbox {
    fn sent(&self) -> MutexGuard<'_, Sent> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SignalSender {
    /// Creates a sender of signals to a run of this flow.
    pub fn new(flow: &impl TakesSignals) -> Self {
        SignalSender {
            types: Arc::new(flow.signals()),
            mailbox: Arc::default(),
        }
    }

    /// Sends a signal to the run, which may begin later.
    ///
    /// # Errors
    ///
    /// The signal is not sent: see [`SignalError`].
    pub fn send<S: Signal>(&self, signal: S) -> Result<(), SignalError> {
        self.send_submitted(S::NAME, signal.submit())
    }

    /// Sends the signal of this name, with its body as JSON, like [`send`](Self::send).
    ///
    /// # Errors
    ///
    /// The signal is not sent: see [`SignalError`].
    pub fn send_json(&self, name: &str, body: Value) -> Result<(), SignalError> {
        self.send_submitted(name, body.submit())
    }

    fn send_submitted(
        &self,
        name: &str,
        body: Result<SubmittedValue, serde_json::Error>,
    ) -> Result<(), SignalError> {
        let body = self.types.accept(name, body)?;
        let mut sent = self.mailbox.sent();
        let receiver = sent.receiver.as_ref();
        if receiver.is_some_and(|receiver| receiver.strong_count() == 0) {
            return Err(SignalError::Over);
        }
        sent.signals.push_back((name.to_owned(), body));
        drop(sent);
        self.mailbox.came.notify_waiters();
        Ok(())
    }

    /// The end at which runs take the signals.
    pub(crate) fn receiver(&self) -> Arc<SignalReceiver> {
        let mut sent = self.mailbox.sent();
        let known = sent.receiver.as_ref().and_then(Weak::upgrade);
        known.unwrap_or_else(|| {
            let receiver = Arc::new(SignalReceiver(self.mailbox.clone()));
            sent.receiver = Some(Arc::downgrade(&receiver));
            receiver
        })
    }
}

impl fmt::Debug for SignalSender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.types.names();
        f.debug_tuple("SignalSender").field(&names).finish()
    }
}

/// The end at which runs take signals. After the last one is dropped, no signal can be sent.
pub(crate) struct SignalReceiver(Arc<Mailbox>);

impl SignalReceiver {
    /// Waits for a signal of this name, and takes the oldest one.
    pub(crate) async fn take(&self, name: &str) -> Value {
        loop {
            // Enabled before the look, so that no signal comes between.
            let mut came = std::pin::pin!(self.0.came.notified());
            came.as_mut().enable();
            if let Some(body) = self.oldest(name) {
                return body;
            }
            came.await;
        }
    }

    fn oldest(&self, name: &str) -> Option<Value> {
        let mut sent = self.0.sent();
        let at = sent.signals.iter().position(|(of, _)| of == name)?;
        sent.signals.remove(at).map(|(_, body)| body)
    }
}

/// The signals for which the steps of a flow wait, with the types of their bodies.
#[derive(Debug, Clone, Default)]
pub struct SignalTypes(Vec<(String, ExternalType)>);

impl SignalTypes {
    /// The signals of a flow with this structure. `external` returns the type of the value that the
    /// node at a path gets from outside.
    pub fn new(
        document: &FlowDocument,
        external: impl Fn(&str) -> Option<ExternalType>,
    ) -> SignalTypes {
        let signals = document.signals().into_iter();
        let named = signals.filter_map(|at| Some((at.name.to_owned(), external(&at.path)?)));
        SignalTypes(named.collect())
    }

    /// The names of the signals, each once.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.0.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Returns the body of a signal of this name as JSON, if a step waits for such a signal.
    ///
    /// # Errors
    ///
    /// [`SignalError::Unknown`] or [`SignalError::WrongType`]. If several types have the name, the
    /// body has to be of each.
    #[doc(hidden)]
    pub fn accept(
        &self,
        name: &str,
        body: Result<SubmittedValue, serde_json::Error>,
    ) -> Result<Value, SignalError> {
        let wrong = |reason| SignalError::WrongType {
            name: name.to_owned(),
            reason,
        };
        let body = body.map_err(|error| wrong(error.to_string()))?;
        let mut accepted = None;
        for (_, ty) in self.0.iter().filter(|(of, _)| of == name) {
            accepted = Some(ty.accept_submitted(Ok(body.clone())).map_err(wrong)?);
        }
        accepted.ok_or_else(|| SignalError::Unknown {
            name: name.to_owned(),
            known: self.names().into_iter().map(str::to_owned).collect(),
        })
    }
}

/// A flow that can say for which signals it waits: every flow.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a flow",
    label = "not a flow",
    note = "write the flow itself, such as `Order::new()`"
)]
pub trait TakesSignals {
    /// The signals.
    fn signals(&self) -> SignalTypes;
}

/// The reason why a signal was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SignalError {
    /// No step of the flow waits for a signal of this name.
    Unknown {
        /// The name.
        name: String,
        /// The names of the signals for which steps of the flow wait.
        known: Vec<String>,
    },
    /// The body is not of the type of the signal, or JSON cannot express it.
    WrongType {
        /// The name of the signal.
        name: String,
        /// The reason, in words.
        reason: String,
    },
    /// The run is over.
    Over,
}

impl fmt::Display for SignalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SignalError::Unknown { name, known } if known.is_empty() => {
                write!(f, "the flow takes no signals, so `{name}` cannot be sent")
            }
            SignalError::Unknown { name, known } => {
                write!(
                    f,
                    "no step waits for the signal `{name}`; the flow waits for "
                )?;
                for (index, known) in known.iter().enumerate() {
                    let comma = if index > 0 { ", " } else { "" };
                    write!(f, "{comma}`{known}`")?;
                }
                Ok(())
            }
            SignalError::WrongType { name, reason } => {
                write!(f, "expected a `{name}`: {reason}")
            }
            SignalError::Over => f.write_str("the run is over"),
        }
    }
}

impl Error for SignalError {}
