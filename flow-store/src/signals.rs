//! Signals: messages from outside to an execution.

use crate::rows::Status;

/// The name of the signal with which an execution is cancelled that is to be undone first. No signal
/// of a flow has it. [`Store::signal`](crate::Store::signal) notes its time in
/// [`Row::cancelled_ms`](crate::Row::cancelled_ms).
pub const CANCEL: &str = "!cancel";

/// A signal to send to an execution: the argument of [`Store::signal`](crate::Store::signal).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSignal {
    /// The name of the signal.
    pub name: String,
    /// The body, as JSON.
    pub payload: String,
    /// The SHA-256 of the name and the body, in hexadecimal digits. A second signal with the same
    /// key has to have the same digest.
    pub digest: String,
    /// The idempotency key: an execution accepts one signal with it.
    pub key: Option<String>,
    /// The time, in milliseconds since 1970 (UTC): the row's new `updated_ms`.
    pub now_ms: u64,
}

/// A signal that the run has not taken, as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignalRow {
    /// The number within the execution: from 1, in the order accepted, never used again.
    pub number: u64,
    /// The name of the signal.
    pub name: String,
    /// The body, as JSON.
    pub payload: String,
    /// The idempotency key.
    pub key: Option<String>,
    /// The time at which it was sent, in milliseconds since 1970 (UTC).
    pub sent_ms: u64,
}

/// The result of [`Store::signal`](crate::Store::signal).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sent {
    /// The signal is stored, with this number.
    New(u64),
    /// Nothing was written, because the execution has had a signal with this key, whether the run
    /// has taken it or not.
    Existing {
        /// The number of that signal.
        number: u64,
        /// The digest of that signal.
        digest: String,
    },
    /// Nothing was written, because the execution is over, with this status.
    Over(Status),
}
