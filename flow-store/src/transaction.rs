//! Transactions of a store's own database, for steps that write there.

use std::any::Any;

use async_trait::async_trait;

use crate::error::StoreError;
use crate::ids::ExecutionId;
use crate::rows::Append;

/// A transaction of a store's own database: [`Store::begin`](crate::Store::begin).
///
/// A step writes its rows through [`handle`](StoreTransaction::handle), whose type is the
/// database's own; [`append`](StoreTransaction::append) then adds the step's outcome and commits
/// both. If it is dropped, it is rolled back.
#[async_trait]
pub trait StoreTransaction: Send {
    /// What the step writes with.
    fn handle(&mut self) -> &mut (dyn Any + Send);

    /// Checks that it can be committed, as far as the database can say before it is: what fails here
    /// is a failure of the step.
    ///
    /// # Errors
    ///
    /// It cannot be committed: it took too long, or broke a constraint that is checked late.
    async fn check(&mut self) -> Result<(), StoreError>;

    /// Writes to a claimed execution, and commits that together with what the step has written.
    ///
    /// # Errors
    ///
    /// As [`Store::append`](crate::Store::append), and if the database refuses to commit.
    async fn append(
        self: Box<Self>,
        id: ExecutionId,
        fence: u64,
        append: Append,
    ) -> Result<(), StoreError>;

    /// Commits what the step has written, in a run that is not kept in the store.
    ///
    /// # Errors
    ///
    /// The database refuses to commit.
    async fn commit(self: Box<Self>) -> Result<(), StoreError>;

    /// Undoes what the step has written, and returns when that is done.
    async fn roll_back(self: Box<Self>);
}
