//! Parts of a document that `flow!` cannot express.

use std::fmt;

use flow_spec::visible;

/// A part of a document that `flow!` cannot express.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsaid {
    /// The JSON pointer of the part.
    pub pointer: String,
    /// The reason: one sentence without a full stop.
    pub message: String,
}

/// The parts found so far.
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

/// Prints the place and the message.
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
