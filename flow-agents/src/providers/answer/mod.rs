//! What is read of an answer, in the order in which it comes.
//!
//! Each protocol has a [`Reader`], which reads a whole answer as it reads the events of a stream. What a reader does not
//! know it passes over: providers add kinds of events, of parts and of calls at any time.

mod completions;
mod gemini;
mod messages;
mod parts;
mod responses;

pub(super) use self::parts::{Parts, Reader, told};
use super::provider::{Protocol, Provider};

/// Reads an answer of this provider.
pub(super) fn reader(provider: &Provider) -> Box<dyn Reader> {
    match provider.protocol {
        Protocol::Chat => Box::new(completions::Reader::default()),
        Protocol::Responses => Box::new(responses::Reader::default()),
        Protocol::Messages => Box::new(messages::Reader::default()),
        Protocol::Gemini => Box::new(gemini::Reader::default()),
    }
}
