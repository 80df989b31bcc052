//! The executions of one owner, or of all.

mod answers;
mod changed;
mod endings;
mod events;
mod find;
mod retry;
mod signals;
mod start;
mod state;
mod travel;
mod writes;

use std::sync::Arc;
use std::time::Duration;

use flow_store::{ExecutionId, ListQuery, Store as _};

use crate::clock::millis;
use crate::error::RuntimeError;
use crate::execution::Execution;
use crate::listed::{ListOptions, Listed};
use crate::owned::Owned;
use crate::owners::Owners;
use crate::shared::Shared;

/// Starts, finds, answers, cancels and copies executions: those without an owner
/// ([`Runtime::executions`]), those of one owner ([`Runtime::owned_by`]), or all
/// ([`Runtime::all_owners`]).
///
/// Executions that are started here belong to the owner. Other executions appear not to exist:
/// their ids return [`RuntimeError::NotFound`], and the tokens of their questions
/// [`RuntimeError::UnknownToken`], like ids and tokens that never existed. What concerns the
/// process, such as the registration of flows, is on the [`Runtime`]. A clone sees the same
/// executions.
///
/// [`Runtime`]: crate::Runtime
/// [`Runtime::executions`]: crate::Runtime::executions
/// [`Runtime::owned_by`]: crate::Runtime::owned_by
/// [`Runtime::all_owners`]: crate::Runtime::all_owners
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
    pub(crate) owned: Owned,
}

impl Executions {
    pub(crate) fn new(shared: Arc<Shared>, owners: Owners) -> Self {
        Executions {
            owned: Owned::new(shared, owners),
        }
    }

    /// The owner of the executions that start here. `None` if they start without an owner.
    pub fn owner(&self) -> Option<&str> {
        self.owned.owner()
    }

    /// An execution, as it is now.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::NotFound`], also if it belongs to another owner; or the store could not be
    /// read.
    pub async fn get(&self, id: ExecutionId) -> Result<Execution, RuntimeError> {
        Ok(Execution::new(
            self.owned.clone(),
            self.owned.row(id).await?,
        ))
    }

    /// The executions, the newest first. Those that cannot be read are in
    /// [`Listed::damaged`].
    ///
    /// # Errors
    ///
    /// The store could not be read.
    pub async fn list(&self, options: ListOptions) -> Result<Listed, RuntimeError> {
        self.owned.shared.set_clock().await?;
        let query = self.query(options);
        let mut listed = Listed::limited(query.limit);
        for row in self.owned.shared.store.list(&query).await? {
            match row {
                Ok(row) => listed
                    .executions
                    .push(Execution::new(self.owned.clone(), row)),
                Err(damaged) => listed.damaged.push(damaged),
            }
        }
        Ok(listed)
    }

    pub(crate) fn query(&self, options: ListOptions) -> ListQuery {
        let now_ms = self.owned.shared.now_ms();
        let before = |age: Duration| now_ms.saturating_sub(millis(age));
        ListQuery {
            owner: match self.owned.owners() {
                Owners::One(owner) => Some(owner.as_deref().map(str::to_owned)),
                Owners::All => None,
            },
            created_before_ms: options
                .query
                .created_before_ms
                .into_iter()
                .chain(options.created_before.map(before))
                .min(),
            updated_before_ms: options.untouched_for.map(before),
            ..options.query
        }
    }
}
