//! The executions of one owner, or of all.

use std::future::Future;
use std::pin::Pin;

use std::time::Duration;

use flow_store::{ExecutionId, Token};
use serde_json::{Map, Value};

use super::error::RuntimeError;
use super::events::Events;
use super::execution::{Execution, OpenQuestion};
use super::execution_state::ExecutionState;
use super::filter::EventFilter;
use super::listed::{ListOptions, Listed};
use super::options::StartOptions;
use super::runtime::Runtime;
use super::writes::KeyWrite;
use flow_runtime::{Flow, Submission};

/// The executions of one owner ([`Runtime::owned_by`]), those without an owner
/// ([`Runtime::executions`]), or all ([`Runtime::all_owners`]).
///
/// Executions started here belong to the owner. Other executions appear not to exist: their ids
/// return [`RuntimeError::NotFound`], and the tokens of their questions
/// [`RuntimeError::UnknownToken`], like ids and tokens that never existed. Methods that concern the
/// process, such as the registration of flows, are only on the [`Runtime`]. A clone sees the same
/// executions.
///
/// # Examples
///
/// ```
/// use flow_durable::{Executions, ListOptions, MemoryStore, Runtime, RuntimeError, StartOptions};
/// use flow_runtime::prelude::*;
///
/// #[node]
/// fn greet(name: &str) -> String {
///     format!("Hello, {name}!")
/// }
///
/// flow! {
///     Greeting(name: String) -> (greet: String) {
///         start >> greet >> end;
///     }
/// }
///
/// /// What a server does for a user who is signed in.
/// async fn greeted(executions: &Executions) -> Result<usize, RuntimeError> {
///     let input = GreetingInput { name: "you".into() };
///     executions.start::<Greeting>(input, StartOptions::new()).await?.settled().await?;
///     Ok(executions.list(ListOptions::new()).await?.len())
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), RuntimeError> {
/// let runtime = Runtime::new(MemoryStore::new());
/// runtime.register(Greeting::new())?;
/// assert_eq!(greeted(&runtime.owned_by("ann")).await?, 1);
/// assert_eq!(greeted(&runtime.owned_by("ben")).await?, 1);
/// assert_eq!(greeted(&runtime.owned_by("ann")).await?, 2);
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct Executions {
    /// The runtime, with the owner.
    runtime: Runtime,
}

impl Executions {
    pub(super) fn new(runtime: Runtime) -> Self {
        Executions { runtime }
    }

    /// The owner of the executions that start here. `None` for executions without an owner.
    pub fn owner(&self) -> Option<&str> {
        self.runtime.owned.owner()
    }

    /// Starts an execution: see [`Runtime::start`].
    ///
    /// # Errors
    ///
    /// See [`Runtime::start`].
    ///
    /// # Cancel safety
    ///
    /// See [`Runtime::start`].
    pub fn start<F: Flow>(
        &self,
        input: F::Input,
        options: StartOptions,
    ) -> Pin<Box<dyn Future<Output = Result<Execution, RuntimeError>> + Send + '_>> {
        self.runtime.start::<F>(input, options)
    }

    /// Starts an execution of the flow of this name: see [`Runtime::start_any`].
    ///
    /// # Errors
    ///
    /// See [`Runtime::start_any`].
    ///
    /// # Cancel safety
    ///
    /// See [`Runtime::start_any`].
    pub async fn start_any(
        &self,
        name: &str,
        input: Value,
        options: StartOptions,
    ) -> Result<Execution, RuntimeError> {
        self.runtime.start_any(name, input, options).await
    }

    /// An execution, as it is now.
    ///
    /// # Errors
    ///
    /// See [`Runtime::get`].
    pub async fn get(&self, id: ExecutionId) -> Result<Execution, RuntimeError> {
        self.runtime.get(id).await
    }

    /// The executions, the newest first: see [`Runtime::list`].
    ///
    /// # Errors
    ///
    /// See [`Runtime::list`].
    pub async fn list(&self, options: ListOptions) -> Result<Listed, RuntimeError> {
        self.runtime.list(options).await
    }

    /// The question with this token, if it is open.
    ///
    /// # Errors
    ///
    /// See [`Runtime::question`].
    pub async fn question(&self, token: Token) -> Result<OpenQuestion, RuntimeError> {
        self.runtime.question(token).await
    }

    /// Answers a question: see [`Runtime::resume`].
    ///
    /// # Errors
    ///
    /// See [`Runtime::resume`].
    pub fn resume(
        &self,
        token: Token,
        value: impl Submission,
    ) -> Pin<Box<dyn Future<Output = Result<Execution, RuntimeError>> + Send + '_>> {
        self.runtime.resume(token, value)
    }

    /// Ends an execution: see [`Runtime::cancel`].
    ///
    /// # Errors
    ///
    /// See [`Runtime::cancel`].
    pub async fn cancel(&self, id: ExecutionId, reason: &str) -> Result<Execution, RuntimeError> {
        self.runtime.cancel(id, reason).await
    }

    /// Continues a halted execution: see [`Runtime::continue_halted`].
    ///
    /// # Errors
    ///
    /// See [`Runtime::continue_halted`].
    pub async fn continue_halted(&self, id: ExecutionId) -> Result<Execution, RuntimeError> {
        self.runtime.continue_halted(id).await
    }

    /// Continues a halted execution with a larger step budget: see
    /// [`Runtime::continue_with_steps`].
    ///
    /// # Errors
    ///
    /// See [`Runtime::continue_with_steps`].
    pub async fn continue_with_steps(
        &self,
        id: ExecutionId,
        steps: u64,
    ) -> Result<Execution, RuntimeError> {
        self.runtime.continue_with_steps(id, steps).await
    }

    /// Cancels the executions that have been paused for this long: see [`Runtime::expire`].
    ///
    /// # Errors
    ///
    /// See [`Runtime::expire`].
    pub async fn expire(&self, untouched_for: Duration) -> Result<Listed, RuntimeError> {
        self.runtime.expire(untouched_for).await
    }

    /// Removes an execution with its journal: see [`Runtime::delete`].
    ///
    /// # Errors
    ///
    /// See [`Runtime::delete`].
    pub async fn delete(&self, id: ExecutionId) -> Result<(), RuntimeError> {
        self.runtime.delete(id).await
    }

    /// The state of an execution after one of its records: see [`Runtime::state`].
    ///
    /// # Errors
    ///
    /// See [`Runtime::state`].
    pub async fn state(&self, id: ExecutionId, seq: u64) -> Result<ExecutionState, RuntimeError> {
        self.runtime.state(id, seq).await
    }

    /// The writes to the keys of an execution: see [`Runtime::writes`].
    ///
    /// # Errors
    ///
    /// See [`Runtime::writes`].
    pub async fn writes(&self, id: ExecutionId, seq: u64) -> Result<Vec<KeyWrite>, RuntimeError> {
        self.runtime.writes(id, seq).await
    }

    /// Starts a copy of an execution that continues from one of its records: see [`Runtime::copy`].
    ///
    /// # Errors
    ///
    /// See [`Runtime::copy`].
    pub async fn copy(&self, id: ExecutionId, seq: u64) -> Result<Execution, RuntimeError> {
        self.runtime.copy(id, seq).await
    }

    /// Starts a copy of an execution with other values: see [`Runtime::copy_with`].
    ///
    /// # Errors
    ///
    /// See [`Runtime::copy_with`].
    pub async fn copy_with(
        &self,
        id: ExecutionId,
        seq: u64,
        values: Map<String, Value>,
    ) -> Result<Execution, RuntimeError> {
        self.runtime.copy_with(id, seq, values).await
    }

    /// The journals of the executions as a stream: see [`Runtime::events`].
    ///
    /// # Errors
    ///
    /// See [`Runtime::events`].
    pub async fn events(&self, filter: EventFilter) -> Result<Events, RuntimeError> {
        self.runtime.events(filter).await
    }
}
