//! The limits on open streams of events.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::limits::Limits;
use crate::problem::Problem;

/// The seconds after which a refused client may retry.
const RETRY_AFTER: u64 = 5;

/// The limits of open streams, in total and for each owner.
pub(crate) struct Streams {
    all: Arc<Semaphore>,
    of_each: usize,
    owners: Arc<Owners>,
}

/// The number of open streams by owner. Owners without a stream are left out.
#[derive(Debug, Default)]
struct Owners(Mutex<HashMap<String, usize>>);

/// A permit for an open stream, released when dropped.
#[derive(Debug)]
pub(crate) struct StreamPermit {
    _of_all: OwnedSemaphorePermit,
    _of_owner: Option<OfOwner>,
}

#[derive(Debug)]
struct OfOwner {
    owners: Arc<Owners>,
    owner: String,
}

impl Streams {
    pub(crate) fn new(limits: &Limits) -> Self {
        let all = limits.streams.get().min(Semaphore::MAX_PERMITS);
        Streams {
            all: Arc::new(Semaphore::new(all)),
            of_each: limits.streams_per_owner.get(),
            owners: Arc::default(),
        }
    }

    /// Opens a stream for this owner. Without an owner, it counts towards the total only.
    pub(crate) fn open(&self, owner: Option<String>) -> Result<StreamPermit, Problem> {
        let of_owner = match owner {
            Some(owner) => Some(self.owners.open(owner, self.of_each)?),
            None => None,
        };
        let of_all = self.all.clone().try_acquire_owned().map_err(|_| {
            let problem = Problem::unavailable("too many streams of events are open");
            problem.with("retryAfter", RETRY_AFTER)
        })?;
        Ok(StreamPermit {
            _of_all: of_all,
            _of_owner: of_owner,
        })
    }
}

impl Owners {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(self: &Arc<Self>, owner: String, at_most: usize) -> Result<OfOwner, Problem> {
        let mut open = self.lock();
        let count = open.entry(owner.clone()).or_default();
        if *count >= at_most {
            let reason = format!("{at_most} streams of events are open for this owner");
            return Err(Problem::too_many(reason, RETRY_AFTER));
        }
        *count += 1;
        drop(open);
        let owners = self.clone();
        Ok(OfOwner { owners, owner })
    }
}

impl Drop for OfOwner {
    fn drop(&mut self) {
        let mut open = self.owners.lock();
        if let Some(count) = open.get_mut(&self.owner) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.owner);
            }
        }
    }
}
