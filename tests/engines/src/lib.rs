//! Engines written outside of the library, with what it documents and nothing else.

mod recording;
mod timeline;

pub use recording::{Playback, Recorder, Recording};
pub use timeline::Timeline;
