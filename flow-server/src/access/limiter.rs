//! The limit of requests per second of each caller.

use std::net::IpAddr;
use std::num::NonZeroU32;

use governor::clock::{Clock as _, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

use crate::limits::Limits;
use crate::problem::Problem;

/// The number of refusals per second that an address gets with a reason.
const REFUSED: NonZeroU32 = NonZeroU32::new(10).unwrap();

/// The number of known callers from which on inactive ones are forgotten.
const KNOWN: usize = 10_000;

pub(super) struct Limiter {
    requests: DefaultKeyedRateLimiter<String>,
    refusals: DefaultKeyedRateLimiter<IpAddr>,
    clock: DefaultClock,
}

impl Limiter {
    pub(super) fn new(limits: &Limits) -> Self {
        let requests = Quota::per_second(limits.requests_per_second);
        Limiter {
            requests: RateLimiter::keyed(requests),
            refusals: RateLimiter::keyed(Quota::per_second(REFUSED)),
            clock: DefaultClock::default(),
        }
    }

    /// Counts a request of this caller.
    pub(super) fn request(&self, caller: &str) -> Result<(), Problem> {
        if self.requests.len() > KNOWN {
            self.requests.retain_recent();
        }
        self.requests
            .check_key(&caller.to_owned())
            .map_err(|not_before| {
                let wait = not_before.wait_time_from(self.clock.now()).as_secs();
                Problem::too_many("this caller sends more requests than allowed", wait + 1)
            })
    }

    /// Counts a request that is refused because its sender is unknown.
    pub(super) fn refused(&self, peer: IpAddr) -> Result<(), Problem> {
        if self.refusals.len() > KNOWN {
            self.refusals.retain_recent();
        }
        self.refusals
            .check_key(&peer)
            .map_err(|_| Problem::too_many("too many requests of this address were refused", 1))
    }
}
