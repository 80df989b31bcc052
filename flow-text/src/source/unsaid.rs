//! What `flow!` cannot say.

use std::fmt;

use flow_spec::visible;

/// Something in a document that `flow!` cannot say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsaid {
    /// Where it is in the document, as a JSON pointer.
    pub pointer: String,
    /// What it is: one sentence without a full stop.
    pub message: String,
}

/// What cannot be said, as it is found.
#[derive(Default)]
pub(super) struct Found(pub(super) Vec<Unsaid>);

impl Found {
    pub(super) fn push(&mut self, pointer: impl Into<String>, message: impl Into<String>) {
        self.0.push(Unsaid {
            pointer: pointer.into(),
            message: message.into(),
        });
    }
}

/// The place and the message.
impl fmt::Display for Unsaid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = match self.pointer.as_str() {
            "" => "/",
            pointer => pointer,
        };
        write!(f, "{}: {}", visible(place), visible(&self.message))
    }
}

impl std::error::Error for Unsaid {}
