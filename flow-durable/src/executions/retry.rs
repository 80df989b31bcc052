//! Lets executions continue that have failed or are halted.

use flow_store::{ExecutionId, Status};

use super::Executions;
use crate::error::RuntimeError;
use crate::execution::Execution;
use crate::shared::options_of;

impl Executions {
    /// Tries an execution again that has [failed](Status::Failed) or is
    /// [halted](Execution::halted): it continues at the step that failed, as the same execution.
    /// What was done stays done, and the step has the same
    /// [`step_id`](flow_runtime::Context::step_id). The cause must have been fixed before, or it
    /// fails again. The last attempt of a halted one is made again, even if it has lost its process
    /// too often. An execution that is neither failed nor halted, and not over, stays as it is.
    /// Returns the execution as it is then.
    ///
    /// - The step has all its attempts again, and so has each step whose failure nobody had
    ///   handled, such as one in another branch that failed at the same moment. A flow as a node
    ///   goes on with its last attempt. If that took too long, it has its whole time again, and so
    ///   has a poll. Questions that were open are asked again, with the whole time to answer. All
    ///   other waits and timeouts have as much time left as they had.
    /// - Of a loop in parts, the parts that failed continue, and those that were ended because of
    ///   them.
    /// - It waits in the queue if it has a [concurrency key](crate::StartOptions::concurrency_key),
    ///   and so do parts: that time counts. Otherwise it runs at once, here or in any process that
    ///   has its flow.
    /// - The journal keeps what had failed: a [`RunRetried`](flow_store::RecordKind::RunRetried)
    ///   record says what of it does not count any more.
    /// - To try something else instead, from any record and with other values,
    ///   [copy](Executions::copy) it. The steps of a copy have other ids.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::NotFound`]; [`RuntimeError::Over`] if it is completed or cancelled;
    /// [`RuntimeError::NotRetried`] if something was undone when it failed, because a step that was
    /// taken back would not be done again, if it was being cancelled, or if it is a part of a loop;
    /// [`RuntimeError::NotRegistered`] if it is halted and its flow is not registered here;
    /// [`RuntimeError::FlowChanged`] and others if its journal cannot be replayed with the flow
    /// that is registered here; or the store failed. The execution is unchanged then, except that
    /// parts of its loops may continue already: they end again by themselves.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::atomic::{AtomicBool, Ordering};
    ///
    /// use flow_durable::{MemoryStore, Runtime, RuntimeError, StartOptions, Status};
    /// use flow_runtime::prelude::*;
    ///
    /// static BANK_IS_DOWN: AtomicBool = AtomicBool::new(true);
    ///
    /// #[node]
    /// fn charge(amount: u64, cx: &Context) -> Result<String, String> {
    ///     if BANK_IS_DOWN.load(Ordering::Relaxed) {
    ///         return Err("no network".to_owned());
    ///     }
    ///     Ok(format!("paid {amount} as {}", cx.step_id()))
    /// }
    ///
    /// flow! {
    ///     Order(amount: u64) -> (charge: String) {
    ///         start >> charge >> end;
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), RuntimeError> {
    /// let runtime = Runtime::new(MemoryStore::new());
    /// runtime.register(Order::new())?;
    /// let executions = runtime.executions();
    /// let execution = executions.start::<Order>(OrderInput { amount: 3 }, StartOptions::new()).await?;
    /// let failed = execution.settled().await?;
    /// assert_eq!(failed.status(), Status::Failed);
    ///
    /// BANK_IS_DOWN.store(false, Ordering::Relaxed);
    /// let retried = executions.retry(failed.id()).await?.settled().await?;
    /// assert_eq!((retried.id(), retried.status()), (failed.id(), Status::Completed));
    /// # Ok(()) }
    /// ```
    pub async fn retry(&self, id: ExecutionId) -> Result<Execution, RuntimeError> {
        let row = self.owned.row(id).await?;
        let shared = &self.owned.shared;
        if row.halt().is_some() {
            shared.set_clock().await?;
            shared.continues(&row, None).await?;
            shared.try_to_launch(id).await;
        } else if row.status == Status::Failed {
            shared.set_clock().await?;
            shared.retry_failed(&row).await?;
        } else if row.status.is_over() {
            return Err(RuntimeError::Over {
                execution: id,
                status: row.status,
            });
        }
        let row = self.owned.row(id).await?;
        Ok(Execution::new(self.owned.clone(), row))
    }

    /// Continues a [halted](Execution::halted) execution like [`retry`](Executions::retry), and
    /// adds this many steps to its [`step_budget`](crate::StartOptions::step_budget). An execution
    /// without a budget has no limit, and gets none. A part of a loop has a budget of its own.
    ///
    /// # Errors
    ///
    /// The errors of [`retry`](Executions::retry); [`RuntimeError::NotHalted`]: the budget stays as
    /// it was; or [`RuntimeError::Unreadable`].
    pub async fn retry_with_steps(
        &self,
        id: ExecutionId,
        steps: u64,
    ) -> Result<Execution, RuntimeError> {
        let row = self.owned.row(id).await?;
        if row.halt().is_none() {
            return Err(RuntimeError::NotHalted(id));
        }
        self.owned.shared.set_clock().await?;
        let options = options_of(&row, &row.flow)?.with_more_steps(steps);
        if !self.owned.shared.continues(&row, Some(&options)).await? {
            return Err(RuntimeError::NotHalted(id));
        }
        self.owned.shared.try_to_launch(id).await;
        let row = self.owned.row(id).await?;
        Ok(Execution::new(self.owned.clone(), row))
    }
}
