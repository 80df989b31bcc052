//! Signals to executions.

use std::future::Future;
use std::pin::Pin;

use flow_runtime::{Signal, Submission as _, SubmittedValue};
use flow_store::{ExecutionId, NewSignal, Sent, Store};
use serde_json::Value;
use uuid::Uuid;

use super::Executions;
use crate::error::RuntimeError;
use crate::execution::{Execution, OWN_KEY, UntakenSignal};
use crate::journal::CANCEL;
use crate::options::SignalOptions;
use crate::payload::{self, VALUE_DEPTH};
use crate::registered::hash_of;
use flow_runtime::SignalError;

impl Executions {
    /// Sends a signal to an execution, and returns when it is stored. The next visit to a step that
    /// waits for a signal of this type takes it. It may come before its step: signals are kept, and
    /// taken in the order in which they were sent. If another process has the execution, that
    /// process continues it.
    ///
    /// # Errors
    ///
    /// The signal is not sent: [`RuntimeError::NotFound`]; [`RuntimeError::NotRegistered`] if this
    /// process does not have the flow, whose type says how to read the signal;
    /// [`RuntimeError::Signal`] if the flow waits for no signal of this name, or one of another
    /// type; [`RuntimeError::Over`]; [`RuntimeError::OtherSignal`]; or the store could not be
    /// written to. (If the store failed, it may have the signal. An
    /// [`idempotency_key`](SignalOptions::idempotency_key) makes it safe to send it again.)
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the signal may have been sent. An idempotency key makes it safe to
    /// send it again.
    ///
    /// # Examples
    ///
    /// ```
    /// use flow_durable::{MemoryStore, Runtime, RuntimeError, SignalOptions, StartOptions, Status};
    /// use flow_runtime::prelude::*;
    /// use serde::{Deserialize, Serialize};
    ///
    /// /// The customer has changed their mind.
    /// #[node(signal)]
    /// #[derive(Serialize, Deserialize)]
    /// struct CancelRequest { reason: String }
    ///
    /// flow! {
    ///     Order() -> (reason: Option<String>) {
    ///         node outcome: first { CancelRequest => "cancelled", wait(2d) => "shipped" };
    ///         start >> outcome;
    ///         outcome - "cancelled" >> end("cancelled");
    ///         outcome - "shipped" >> end;
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), RuntimeError> {
    /// let runtime = Runtime::new(MemoryStore::new());
    /// runtime.register(Order::new())?;
    /// let executions = runtime.executions();
    /// let order = executions.start::<Order>(OrderInput::builder().build(), StartOptions::new()).await?;
    ///
    /// let request = CancelRequest { reason: "too late".into() };
    /// executions.signal(order.id(), request, SignalOptions::new()).await?;
    /// let order = order.settled().await?;
    /// let output = order.output::<Order>()?.unwrap();
    /// assert_eq!(output.reason.as_deref(), Some("too late"));
    /// # Ok(()) }
    /// ```
    //
    // Not an `async fn`: for a value that is not a signal, rustc would also report its future.
    pub fn signal<S: Signal>(
        &self,
        id: ExecutionId,
        signal: S,
        options: SignalOptions,
    ) -> Pin<Box<dyn Future<Output = Result<Execution, RuntimeError>> + Send + '_>> {
        Box::pin(self.send(id, S::NAME, signal.submit(), options))
    }

    /// Sends the signal of this name to an execution, with its body as JSON, like
    /// [`signal`](Executions::signal).
    ///
    /// # Errors
    ///
    /// See [`signal`](Executions::signal).
    ///
    /// # Cancel safety
    ///
    /// See [`signal`](Executions::signal).
    pub async fn signal_json(
        &self,
        id: ExecutionId,
        name: &str,
        body: Value,
        options: SignalOptions,
    ) -> Result<Execution, RuntimeError> {
        self.send(id, name, body.submit(), options).await
    }

    async fn send(
        &self,
        id: ExecutionId,
        name: &str,
        body: Result<SubmittedValue, serde_json::Error>,
        options: SignalOptions,
    ) -> Result<Execution, RuntimeError> {
        let shared = &self.owned.shared;
        shared.set_clock().await?;
        let row = self.owned.row(id).await?;
        let version = shared.registry.version_if_known(&row).await?;
        let flow = version.ok_or_else(|| RuntimeError::NotRegistered {
            flow: row.flow.clone(),
        })?;
        let refused = |error| RuntimeError::Signal {
            execution: id,
            error,
        };
        let types = flow.signals().map_err(|reason| RuntimeError::Unreadable {
            execution: id,
            path: flow.namespace().to_owned(),
            reason,
        })?;
        let payload = types.accept(name, body).map_err(refused)?.to_string();
        payload::check(&payload, VALUE_DEPTH).map_err(|reason| {
            let name = name.to_owned();
            refused(SignalError::WrongType { name, reason })
        })?;
        let digest = hash_of(&format!("{name}\n{payload}"));
        // A store that repeats a write whose answer was lost has to know it again, also when a step
        // has taken the signal meanwhile.
        let key = options.idempotency_key;
        let key = key.unwrap_or_else(|| format!("{OWN_KEY}{}", Uuid::new_v4()));
        let signal = NewSignal {
            name: name.to_owned(),
            payload,
            digest: digest.clone(),
            key: Some(key.clone()),
            now_ms: shared.now_ms(),
        };
        let sent = shared.store.signal(id, signal).await;
        match sent.map_err(RuntimeError::of(id))? {
            Sent::New(_) => shared.wake(id).await,
            Sent::Existing { digest: of, .. } if of == digest => {}
            Sent::Existing { .. } => {
                return Err(RuntimeError::OtherSignal {
                    execution: id,
                    idempotency_key: key,
                });
            }
            Sent::Over(status) => {
                return Err(RuntimeError::Over {
                    execution: id,
                    status,
                });
            }
        }
        // The signal is stored. If the execution cannot be read, this is not an error of the signal.
        match self.get(id).await {
            Ok(execution) => Ok(execution),
            Err(_) => Ok(Execution::new(self.owned.clone(), row)),
        }
    }

    /// The signals that were sent to an execution and that no step has taken, in the order in which
    /// they were sent. Those of an execution that is over will not be taken.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::NotFound`], or the store could not be read.
    pub async fn untaken_signals(
        &self,
        id: ExecutionId,
    ) -> Result<Vec<UntakenSignal>, RuntimeError> {
        self.owned.row(id).await?;
        let signals = self.owned.shared.store.signals(id).await;
        let signals = signals.map_err(RuntimeError::of(id))?.into_iter();
        let signals = signals.filter(|signal| signal.name != CANCEL);
        Ok(signals.map(UntakenSignal::new).collect())
    }
}
