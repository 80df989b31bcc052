//! Attempts at a flow used as a node, which the engine runs.

use std::future::Future;
use std::pin::Pin;

use crate::engine::Hooks;
use crate::engine::undo::{Undo, undo_failed};
use crate::error::{Failed, FlowError};
use crate::node_error::{Failure, NodeError, TimedOut};
use crate::policy::RetryIf;
use crate::visit::Attempts;

impl Attempts<'_> {
    /// Makes one attempt at a flow used as a node, within the `timeout` of that node. `work` drives the
    /// flow; what is left of it is dropped. `is_handled` is true if the flow around it goes on after a
    /// failure.
    pub async fn attempt_flow<F: Undo<E>, E: Hooks, T: Send>(
        &self,
        flow: &F,
        engine: &E,
        is_handled: bool,
        mut work: Pin<&mut Option<impl Future<Output = Result<T, Failed>> + Send>>,
    ) -> Result<T, Failed> {
        let scope = self.visit.scope;
        let mark = if flow.undoes() {
            scope.run().undo_mark()
        } else {
            0
        };
        let Some(attempt) = work.as_mut().as_pin_mut() else {
            unreachable!("an attempt is made once")
        };
        let Some(after) = self.visit.policy.timeout else {
            return attempt.await;
        };
        if let Some(result) = engine
            .within_timeout(scope, self.index, after, attempt)
            .await
        {
            return result;
        }
        let failure = Failure::TimedOut(TimedOut { after });
        let path = scope.frame().path().to_string();
        let mut failed = NodeError::new(path, self.index + 1, failure).into();
        // What it holds, such as permits, may be needed now.
        work.set(None);
        if flow.undoes() {
            let inner = scope.nested(engine.names(Some(scope), flow.info()), self.index);
            scope.run().undo_list().set_mark(inner.frame(), mark);
            undo_failed(flow, engine, &inner, is_handled, &mut failed).await;
        }
        Err(failed)
    }

    /// Returns true if the flow around goes on after the failure of this attempt, as far as that is
    /// known: another one is left, or it handles the failure of the last one.
    pub fn is_handled(&self, handles: bool) -> bool {
        handles || self.is_another_left()
    }

    /// Like [`again`](Attempts::again), after a failed attempt at a flow used as a node.
    ///
    /// # Errors
    ///
    /// The failure of the flow, if no other attempt follows.
    pub async fn flow_again(&mut self, engine: &impl Hooks, failed: Failed) -> Result<(), Failed> {
        let FlowError::Node(error) = &*failed else {
            return Err(failed);
        };
        let scope = self.visit.scope;
        scope.run().attempt_failed(scope.frame(), self.index, error);
        let again = self.is_another_left()
            && match self.visit.policy.retry.only_if {
                Some(RetryIf::OfFlow(decides)) => {
                    engine.tries_again(scope, self.index, error, decides)
                }
                Some(RetryIf::OfNode) | None => true,
            };
        if !again {
            return Err(failed);
        }
        let wait = self.next();
        engine.wait_to_retry(scope, self.index, wait).await
    }
}
