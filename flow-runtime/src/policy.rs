//! The fault settings of a node: its attempts, its timeout, and its pauses.

use std::num::NonZeroU32;
use std::time::Duration;

use crate::node_error::NodeError;

/// The fault settings of a node: `retry(…)` and `timeout = …`.
///
/// A node's own settings are written in [`#[node]`](macro@crate::node). A flow replaces them with
/// `with`: its `retry` replaces the node's whole `retry`, and its `timeout` the node's `timeout`.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Policy {
    /// The retries.
    pub retry: Retry,
    /// The maximum duration of one attempt.
    pub timeout: Option<Duration>,
}

/// The conditions under which another attempt follows a failed one.
///
/// `attempts` counts every attempt, including the first. There is a wait only between attempts.
///
/// # Examples
///
/// ```
/// use std::num::NonZeroU32;
/// use std::time::Duration;
/// use flow_runtime::{Retry, RetryIf};
///
/// let mut retry = Retry::attempts(NonZeroU32::new(4).unwrap());
/// retry.wait = Duration::from_millis(100);
/// retry.backoff = 2.0;
/// retry.max_wait = Duration::from_millis(300);
/// retry.only_if = Some(RetryIf::OfFlow(|error| error.is_timeout()));
/// let waits = [0, 1, 2].map(|attempt| retry.wait_after(attempt).as_millis());
/// assert_eq!(waits, [100, 200, 300]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Retry {
    /// The number of attempts. 1 means no retry.
    pub attempts: NonZeroU32,
    /// The wait after the first failed attempt.
    pub wait: Duration,
    /// The factor by which the wait grows after each further attempt. 1.0 keeps it constant.
    pub backoff: f64,
    /// The longest wait.
    pub max_wait: Duration,
    /// The part of the wait that is random, from 0.0 to 1.0: with 0.5, a wait of 10 s becomes one
    /// between 5 s and 10 s.
    pub jitter: f64,
    /// The failures after which there is another attempt: `if = …`. `None` for all failures.
    pub only_if: Option<RetryIf>,
}

/// The function that decides whether another attempt follows a failure.
#[derive(Debug, Clone, Copy)]
pub enum RetryIf {
    /// The function that the node names in its own `#[node(retry(…, if = …))]`. It gets the error
    /// that the node returned. It is not called for a timeout, which is always retried.
    OfNode,
    /// The function that a flow names in `with retry(…, if = …)`. It is called for every failure.
    OfFlow(fn(&NodeError) -> bool),
}

/// The argument of a function after `with retry(…, if = …)`: the [`NodeError`] of the failure.
///
/// Write `fn(&NodeError) -> bool`, and look for the error of a node with
/// [`downcast_ref`](NodeError::downcast_ref). A function that takes a node's own error belongs to
/// that node: `#[node(retry(…, if = …))]`.
#[diagnostic::on_unimplemented(
    message = "after `with`, `if` gets the error of whatever failed, which is a `&NodeError`, and this function takes a `{Self}`",
    label = "takes a `{Self}`",
    note = "take `&NodeError`, and look for an error of your own with `error.downcast_ref::<…>()`",
    note = "to decide by the error that one node returns, write it at that node: `#[node(retry(…, if = …))]`"
)]
pub trait GetsNodeError<'a> {
    /// The error, as the function takes it.
    #[doc(hidden)]
    fn of(error: &'a NodeError) -> Self;
}

#[diagnostic::do_not_recommend]
impl<'a> GetsNodeError<'a> for &'a NodeError {
    fn of(error: &'a NodeError) -> Self {
        error
    }
}

impl PartialEq for RetryIf {
    /// Two functions count as equal if they have the same address.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (RetryIf::OfNode, RetryIf::OfNode) => true,
            (RetryIf::OfFlow(one), RetryIf::OfFlow(other)) => std::ptr::fn_addr_eq(*one, *other),
            (RetryIf::OfNode, RetryIf::OfFlow(_)) | (RetryIf::OfFlow(_), RetryIf::OfNode) => false,
        }
    }
}

impl Policy {
    /// One attempt, without a time limit.
    pub const DEFAULT: Policy = Policy {
        retry: Retry::NEVER,
        timeout: None,
    };

    #[doc(hidden)]
    #[must_use]
    pub const fn with_retry(mut self, retry: Retry) -> Self {
        self.retry = retry;
        self
    }

    #[doc(hidden)]
    #[must_use]
    pub const fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }
}

impl Default for Policy {
    fn default() -> Self {
        Policy::DEFAULT
    }
}

impl Retry {
    /// One attempt.
    pub const NEVER: Retry = Retry::attempts(NonZeroU32::MIN);

    /// This many attempts, without a wait between them.
    pub const fn attempts(attempts: NonZeroU32) -> Self {
        Retry {
            attempts,
            wait: Duration::ZERO,
            backoff: 1.0,
            max_wait: Duration::MAX,
            jitter: 0.0,
            only_if: None,
        }
    }

    #[doc(hidden)]
    #[must_use]
    pub const fn only_if(mut self, only_if: RetryIf) -> Self {
        self.only_if = Some(only_if);
        self
    }

    /// The wait after the failed attempt of this index (0 for the first), before `jitter` shortens
    /// it.
    pub fn wait_after(&self, attempt: u32) -> Duration {
        let growth = self
            .backoff
            .powi(i32::try_from(attempt).unwrap_or(i32::MAX));
        Duration::try_from_secs_f64(self.wait.as_secs_f64() * growth)
            .unwrap_or(Duration::MAX)
            .min(self.max_wait)
    }

    /// The wait after the failed attempt of this index, shortened at random if there is `jitter`.
    pub(crate) fn jittered_wait_after(&self, attempt: u32) -> Duration {
        let wait = self.wait_after(attempt);
        if self.jitter > 0.0 {
            wait.mul_f64(1.0 - self.jitter * fastrand::f64())
        } else {
            wait
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: Retry = Retry::attempts(NonZeroU32::new(4).unwrap());

    #[test]
    fn backoff_doubles_and_is_capped() {
        let retry = Retry {
            wait: Duration::from_millis(100),
            backoff: 2.0,
            max_wait: Duration::from_millis(300),
            ..BASE
        };
        let waits = [0, 1, 2, 3].map(|attempt| retry.wait_after(attempt).as_millis());
        assert_eq!(waits, [100, 200, 300, 300]);
    }

    #[test]
    fn a_wait_that_overflows_is_capped() {
        let retry = Retry {
            wait: Duration::from_secs(1),
            backoff: 10.0,
            max_wait: Duration::from_secs(60),
            ..BASE
        };
        assert_eq!(retry.wait_after(u32::MAX), Duration::from_secs(60));
    }

    #[test]
    fn jitter_only_shortens() {
        let retry = Retry {
            wait: Duration::from_secs(10),
            jitter: 0.5,
            ..BASE
        };
        for _ in 0..1000 {
            let wait = retry.jittered_wait_after(0);
            assert!(
                (Duration::from_secs(5)..=Duration::from_secs(10)).contains(&wait),
                "{wait:?}"
            );
        }
    }
}
