//! How much the server takes.

use std::num::{NonZeroU32, NonZeroUsize};
use std::time::Duration;

/// How much the server takes from its clients, so that one of them cannot take it from the others.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use flow_server::Limits;
///
/// let limits = Limits { body_bytes: 64 * 1024, request_time: Duration::from_secs(5), ..Limits::default() };
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "it is written with `..Limits::default()`"
)]
pub struct Limits {
    /// How many bytes the body of a request may have: 1 MiB by default. A larger one is refused with
    /// status 413.
    pub body_bytes: usize,
    /// How long the head of a request may take to arrive, and its body: 30 seconds each by default.
    /// After that the connection is closed, or the request refused with status 408.
    pub request_time: Duration,
    /// How many connections may be open at once: 10,000 by default. Further ones wait until one is
    /// closed.
    pub connections: NonZeroUsize,
    /// How many streams of events may be open at once: 5,000 by default. A further one is refused
    /// with status 503.
    pub streams: NonZeroUsize,
    /// How many of them may be open for the executions of one owner: 500 by default. A further one is
    /// refused with status 429. Those of operators only count towards the total.
    pub streams_per_owner: NonZeroUsize,
    /// How long a client may take nothing of what it is sent: 60 seconds by default. After that the
    /// connection is closed; a stream can be resumed with `Last-Event-ID`.
    pub write_time: Duration,
    /// How many requests a second each caller may send, and as many more at once: 1,000 by default. A
    /// further one is refused with status 429.
    pub requests_per_second: NonZeroU32,
    /// How long a request may wait for something to happen (`?wait=`): 60 seconds by default. It is
    /// answered then with what there is.
    pub wait: Duration,
    /// How long requests and running steps may take to finish when the server is shut down: 10 seconds
    /// by default.
    pub drain: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        const fn at_least_one(number: usize) -> NonZeroUsize {
            NonZeroUsize::new(number).unwrap()
        }
        Limits {
            body_bytes: 1024 * 1024,
            request_time: Duration::from_secs(30),
            connections: const { at_least_one(10_000) },
            streams: const { at_least_one(5_000) },
            streams_per_owner: const { at_least_one(500) },
            write_time: Duration::from_secs(60),
            requests_per_second: const { NonZeroU32::new(1_000).unwrap() },
            wait: Duration::from_secs(60),
            drain: Duration::from_secs(10),
        }
    }
}
