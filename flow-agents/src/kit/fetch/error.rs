//! Errors of the tool that fetches pages.

use std::error::Error;
use std::time::Duration;

use super::super::text::shortened;
use super::rules::Refusal;

/// The reason why nothing was fetched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// An address that may not be fetched. Nothing was sent to it.
    #[error("the URL {url:?} is refused: {reason}")]
    Refused {
        /// The beginning of the address, possibly the target of a redirect.
        url: String,
        /// The reason why it may not be fetched.
        reason: String,
    },
    /// An invalid host, passed to [`Fetch::only_hosts`](super::Fetch::only_hosts),
    /// [`Fetch::allow_private`](super::Fetch::allow_private) or
    /// [`Fetch::resolve`](super::Fetch::resolve).
    #[error("{host:?} is not a host: {reason}")]
    Host {
        /// The beginning of the argument.
        host: String,
        /// The reason why it is invalid.
        reason: String,
    },
    /// A redirect without a valid target, or one too many.
    #[error("{url:?} redirects {problem}")]
    Redirect {
        /// The beginning of the address that redirects.
        url: String,
        /// The problem.
        problem: String,
    },
    /// An answer with an error status.
    #[error("{url:?} is answered with the status {status}{}", before(.said))]
    Status {
        /// The beginning of the address.
        url: String,
        /// The status, such as `404 Not Found`.
        status: String,
        /// The beginning of the text of the answer, if it is text.
        said: String,
    },
    /// An answer that is not text, or not readable.
    #[error("the answer of {url:?} is not read: {reason}")]
    NotText {
        /// The beginning of the address.
        url: String,
        /// The reason.
        reason: String,
    },
    /// An answer that takes longer than [`Fetch::max_time`](super::Fetch::max_time).
    #[error("{url:?} is not answered in full within {after:?}")]
    TimedOut {
        /// The beginning of the address.
        url: String,
        /// The time limit.
        after: Duration,
    },
    /// A failed or broken connection.
    #[error("{url:?} cannot be fetched")]
    Failed {
        /// The beginning of the address.
        url: String,
        /// The error.
        source: Box<dyn Error + Send + Sync>,
    },
}

fn before(said: &str) -> String {
    if said.is_empty() {
        String::new()
    } else {
        format!(": {said}")
    }
}

/// The beginning of an address, for an error.
pub(super) fn beginning(url: &str) -> String {
    shortened(url, 300)
}

impl FetchError {
    pub(super) fn refused(url: &str, refusal: Refusal) -> FetchError {
        let (url, Refusal(reason)) = (beginning(url), refusal);
        FetchError::Refused { url, reason }
    }

    pub(super) fn host(host: &str, refusal: Refusal) -> FetchError {
        let (host, Refusal(reason)) = (beginning(host), refusal);
        FetchError::Host { host, reason }
    }

    /// Converts an error of a request: it is the refusal of an address that was looked up, or a
    /// failure.
    pub(super) fn of(url: &str, error: reqwest::Error) -> FetchError {
        let error = error.without_url(); // it is in the text already
        let mut cause: Option<&(dyn Error + 'static)> = Some(&error);
        while let Some(error) = cause {
            if let Some(refusal) = error.downcast_ref::<Refusal>() {
                return FetchError::refused(url, refusal.clone());
            }
            cause = error.source();
        }
        let source = error.into();
        FetchError::Failed {
            url: beginning(url),
            source,
        }
    }
}
