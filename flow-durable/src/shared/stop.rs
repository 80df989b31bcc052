//! Stops the executions of this process.

use std::time::Duration;

use super::Shared;

impl Shared {
    /// Stops the executions of this process as soon as their running steps have ended, or after
    /// this time, and gives up its claims.
    pub(crate) async fn drain(&self, at_most: Duration) {
        self.tasks.draining.cancel();
        let all_stopped = async {
            self.tasks.begin_nothing().await;
            self.nothing_is_left().await;
        };
        // Stops the executions that have not ended in time.
        let _ = tokio::time::timeout(at_most, all_stopped).await;
        self.shut_down().await;
    }

    /// Stops the executions of this process where they are, and gives up its claims.
    pub(crate) async fn shut_down(&self) {
        self.tasks.shut_down.cancel();
        self.tasks.begin_nothing().await;
        for (_, run) in self.claims.all_running() {
            let mut done = run.done.subscribe();
            // The sender lives in `run`.
            let _ = done.wait_for(|done| *done).await;
        }
        // By then the claim of a call that nobody polls has run out.
        let _ = tokio::time::timeout(self.options.lease, self.nothing_is_left()).await;
    }

    /// Returns when no claim is being made and nothing runs, including calls of the program. The
    /// tasks that begin executions must have ended before.
    async fn nothing_is_left(&self) {
        self.claims.all_done().await;
        // A call that noticed the drain in time has a slot and no claim.
        self.queue.slots.all_free().await;
        // An execution that ended then may have notified the one that waits for it.
        self.claims.all_done().await;
    }
}
