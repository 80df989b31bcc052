//! Transactions in a store's own database, for steps that write there.

use std::any::Any;

use async_trait::async_trait;

use crate::error::StoreError;
use crate::ids::ExecutionId;
use crate::rows::Append;

/// A transaction in a store's own database: [`Store::begin`](crate::Store::begin).
///
/// A step writes its rows through [`handle`](StoreTransaction::handle), whose type is the
/// database's own. [`append`](StoreTransaction::append) then adds the step's outcome and commits
/// both. A dropped transaction is rolled back.
#[async_trait]
pub trait StoreTransaction: Send {
    /// Returns the handle through which the step writes.
    fn handle(&mut self) -> &mut (dyn Any + Send);

    /// Checks that the transaction can be committed, as far as the database knows in advance. An
    /// error is a failure of the step.
    ///
    /// # Errors
    ///
    /// The transaction took too long, or violated a constraint that is checked late.
    async fn check(&mut self) -> Result<(), StoreError>;

    /// Writes to a claimed execution, and commits that together with the step's writes.
    ///
    /// # Errors
    ///
    /// Errors of [`Store::append`](crate::Store::append), or the database refuses to commit.
    async fn append(
        self: Box<Self>,
        id: ExecutionId,
        fence: u64,
        append: Append,
    ) -> Result<(), StoreError>;

    /// Commits the step's writes, in a run that is not kept in the store.
    ///
    /// # Errors
    ///
    /// The database refuses to commit.
    async fn commit(self: Box<Self>) -> Result<(), StoreError>;

    /// Undoes the step's writes, and returns once that is done.
    async fn roll_back(self: Box<Self>);
}
