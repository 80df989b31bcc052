//! The claims of this process.
//!
//! A server that lost its last writes does not know its newest claims, and gives the same fence to
//! somebody else. Each claim therefore has the id of the call that made it, which a process sends
//! with its writes. A lost claim is kept until the next one, because its steps may still be
//! running.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use flow_store::ExecutionId;
use uuid::Uuid;

#[derive(Debug, Default)]
pub(super) struct Claims(Mutex<HashMap<ExecutionId, Given>>);

/// The fence of a claim, and the call that made it.
#[derive(Debug)]
struct Given {
    fence: u64,
    call: Uuid,
}

impl Claims {
    fn lock(&self) -> MutexGuard<'_, HashMap<ExecutionId, Given>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn add(&self, id: ExecutionId, fence: u64, call: Uuid) {
        self.lock().insert(id, Given { fence, call });
    }

    /// Returns the call that made a claim, or `None` if another handle of the store made it.
    pub(super) fn call_of(&self, id: ExecutionId, fence: u64) -> Option<Uuid> {
        let claims = self.lock();
        let given = claims.get(&id).filter(|given| given.fence == fence);
        given.map(|given| given.call)
    }

    /// Forgets a claim that was released, or whose execution is gone.
    pub(super) fn remove(&self, id: ExecutionId, fence: u64) {
        let mut claims = self.lock();
        if claims.get(&id).is_some_and(|given| given.fence == fence) {
            claims.remove(&id);
        }
    }
}
