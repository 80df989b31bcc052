//! The claims that this process was given.
//!
//! A server that has lost its last writes does not know of a claim that it gave just before, and
//! gives the same fence to somebody else. So each claim has the id of the call that made it, and a
//! process writes with that too. A claim that was lost to somebody else is not forgotten before there
//! is another one, because steps of it may still be under way.

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

    /// The call that made a claim. `None` if another handle of the store made it.
    pub(super) fn call_of(&self, id: ExecutionId, fence: u64) -> Option<Uuid> {
        let claims = self.lock();
        let given = claims.get(&id).filter(|given| given.fence == fence);
        given.map(|given| given.call)
    }

    /// Forgets a claim that was given up, or whose execution is gone.
    pub(super) fn remove(&self, id: ExecutionId, fence: u64) {
        let mut claims = self.lock();
        if claims.get(&id).is_some_and(|given| given.fence == fence) {
            claims.remove(&id);
        }
    }
}
