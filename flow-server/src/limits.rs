//! Limits on what clients may use.

use std::num::{NonZeroU32, NonZeroUsize};
use std::time::Duration;

/// The limits on what each client may use, so that others get their share.
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
    /// The maximum size of a request body in bytes: 1 MiB by default. A larger one is refused with
    /// status 413.
    pub body_bytes: usize,
    /// The time within which the head of a request has to arrive, and its body: 30 seconds each by
    /// default. After that, the connection is closed or the request refused with status 408.
    pub request_time: Duration,
    /// The maximum number of open connections: 10,000 by default. Further ones wait until one is
    /// closed.
    pub connections: NonZeroUsize,
    /// The maximum number of open streams of events: 5,000 by default. A further one is refused
    /// with status 503.
    pub streams: NonZeroUsize,
    /// The maximum number of open streams for the executions of one owner: 500 by default. A
    /// further one is refused with status 429. Streams of operators only count towards the total.
    pub streams_per_owner: NonZeroUsize,
    /// The time for which a client may read nothing: 60 seconds by default. Then the connection is
    /// closed; a stream can be resumed with `Last-Event-ID`.
    pub write_time: Duration,
    /// The number of requests per second of each caller, and the size of a burst on top: 1,000 by
    /// default. A further one is refused with status 429.
    pub requests_per_second: NonZeroU32,
    /// The longest that a request may wait for an event (`?wait=`): 60 seconds by default. It is
    /// then answered with what is there.
    pub wait: Duration,
    /// The time that requests and running steps have to finish at shutdown: 10 seconds by default.
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
