//! Readers of answers, part by part in the order of arrival.
//!
//! Each protocol has a [`Reader`] for whole answers and for the events of a stream. Readers ignore
//! unknown kinds of events, parts and calls: providers may add new ones at any time.

mod completions;
mod gemini;
mod messages;
mod parts;
mod responses;

pub(super) use self::parts::{Parts, Reader, told};
use super::provider::{Protocol, Provider};

/// Returns the reader for answers of this provider.
pub(super) fn reader(provider: &Provider) -> Box<dyn Reader> {
    match provider.protocol {
        Protocol::Chat => Box::new(completions::Reader::default()),
        Protocol::Responses => Box::new(responses::Reader::default()),
        Protocol::Messages => Box::new(messages::Reader::default()),
        Protocol::Gemini => Box::new(gemini::Reader::default()),
    }
}
