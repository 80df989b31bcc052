//! Why nothing was fetched.

use std::error::Error;
use std::time::Duration;

use super::super::text::shortened;
use super::rules::Refusal;

/// Why nothing was fetched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// An address that may not be fetched. Nothing was sent to it.
    #[error("the URL {url:?} is refused: {reason}")]
    Refused {
        /// The beginning of the address, which may be one to which another one redirects.
        url: String,
        /// Why it may not be fetched.
        reason: String,
    },
    /// A host that [`Fetch::only_hosts`](super::Fetch::only_hosts),
    /// [`Fetch::allow_private`](super::Fetch::allow_private) or
    /// [`Fetch::resolve`](super::Fetch::resolve) cannot read.
    #[error("{host:?} is not a host: {reason}")]
    Host {
        /// The beginning of what was given.
        host: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A redirect that leads nowhere, or one too many.
    #[error("{url:?} redirects {problem}")]
    Redirect {
        /// The beginning of the address that redirects.
        url: String,
        /// What is wrong with that.
        problem: String,
    },
    /// An answer that is not a success.
    #[error("{url:?} is answered with the status {status}{}", before(.said))]
    Status {
        /// The beginning of the address.
        url: String,
        /// The status, such as `404 Not Found`.
        status: String,
        /// The beginning of the text of the answer, if it is text.
        said: String,
    },
    /// An answer that is not text, or not text that can be read.
    #[error("the answer of {url:?} is not read: {reason}")]
    NotText {
        /// The beginning of the address.
        url: String,
        /// What it is.
        reason: String,
    },
    /// An answer that takes longer than [`Fetch::max_time`](super::Fetch::max_time).
    #[error("{url:?} is not answered in full within {after:?}")]
    TimedOut {
        /// The beginning of the address.
        url: String,
        /// How long it was waited for.
        after: Duration,
    },
    /// No connection, or one that breaks off.
    #[error("{url:?} cannot be fetched")]
    Failed {
        /// The beginning of the address.
        url: String,
        /// What went wrong.
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

    /// What an error of a request is: the refusal of an address that was looked up for it, or a
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
