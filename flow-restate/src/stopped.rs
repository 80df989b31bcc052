//! The reasons why a call has no result.

use restate_sdk_shared_core::{Error, TerminalFailure};

use crate::size::cut;

/// The end of a call that fails for good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refused {
    /// The HTTP status.
    pub(crate) code: u16,
    pub(crate) message: String,
}

impl Refused {
    pub(crate) fn cancelled() -> Self {
        let (code, message) = (409, "the run was cancelled".to_owned());
        Refused { code, message }
    }
}

impl From<Refused> for TerminalFailure {
    fn from(Refused { code, message }: Refused) -> Self {
        let metadata = Vec::new();
        TerminalFailure {
            code,
            message: cut(message),
            metadata,
        }
    }
}

/// The reason why a call has no output, yet or at all.
#[derive(Debug)]
pub(crate) enum Stopped {
    /// The call fails for good.
    Refused(Refused),
    /// The server calls again: it got the reason, or the connection is gone.
    Again,
}

impl From<Refused> for Stopped {
    fn from(refused: Refused) -> Self {
        Stopped::Refused(refused)
    }
}

impl From<Error> for Stopped {
    fn from(_: Error) -> Self {
        // The journal reports the error to the server.
        Stopped::Again
    }
}

impl From<TerminalFailure> for Refused {
    fn from(failure: TerminalFailure) -> Self {
        Refused {
            code: failure.code,
            message: failure.message,
        }
    }
}
