//! Executions that may kill their process.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::OwnedSemaphorePermit;

/// The right to run an execution that may kill its process. It ends when this is dropped, when a
/// record shows that the process survived, or after a while.
#[derive(Debug, Default)]
pub(crate) struct Suspicion(Option<Arc<Mutex<Option<OwnedSemaphorePermit>>>>);

impl Suspicion {
    /// A suspicion that ends after this time, so that a long run does not hold up the others.
    pub(crate) fn lasting(permit: OwnedSemaphorePermit, at_most: Duration) -> Self {
        let permit = Arc::new(Mutex::new(Some(permit)));
        let held = Arc::downgrade(&permit);
        tokio::spawn(async move {
            tokio::time::sleep(at_most).await;
            if let Some(held) = held.upgrade() {
                held.lock().unwrap_or_else(PoisonError::into_inner).take();
            }
        });
        Suspicion(Some(permit))
    }

    /// Ends the suspicion, because there is a new record.
    pub(super) fn end(&mut self) {
        self.0 = None;
    }
}
