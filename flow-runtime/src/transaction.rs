//! Transactions of a database, for nodes with `#[node(transaction)]`.

use std::any::Any;
use std::fmt;

use futures_util::future::BoxFuture;

use crate::error::BoxError;
use crate::frame::Place;

/// A database to which the nodes of a run with the setting `transaction` write.
///
/// Pass it to a run with [`RunOptions::transactions`](crate::RunOptions::transactions). In a
/// durable run, it is the database of the store, and a node's rows are committed together with its
/// recorded outcome.
///
/// # Examples
///
/// Each node gets a list to which it adds lines, which are kept only if the node succeeds:
///
/// ```
/// use std::any::Any;
/// use std::sync::{Arc, Mutex};
/// use flow_runtime::engine::Place;
/// use flow_runtime::prelude::*;
/// use flow_runtime::{BoxError, BoxFuture, OpenTransaction, Transactions};
///
/// #[derive(Debug, Default, Clone)]
/// struct Book(Arc<Mutex<Vec<String>>>);
///
/// #[derive(Debug, Default)]
/// struct Lines(Vec<String>);
///
/// struct Open(Book, Lines);
///
/// impl Transactions for Book {
///     fn begin<'a>(&'a self, _: &'a Place) -> BoxFuture<'a, Result<Box<dyn OpenTransaction>, BoxError>> {
///         let open: Box<dyn OpenTransaction> = Box::new(Open(self.clone(), Lines::default()));
///         Box::pin(async move { Ok(open) })
///     }
/// }
///
/// impl OpenTransaction for Open {
///     fn handle(&mut self) -> &mut (dyn Any + Send) {
///         &mut self.1
///     }
///     fn type_name(&self) -> &'static str {
///         "Lines"
///     }
///     fn commit(self: Box<Self>) -> BoxFuture<'static, Result<(), BoxError>> {
///         self.0.0.lock().unwrap().extend(self.1.0);
///         Box::pin(async { Ok(()) })
///     }
///     fn roll_back(self: Box<Self>) -> BoxFuture<'static, ()> {
///         Box::pin(async {})
///     }
/// }
///
/// #[node(transaction, retry(attempts = 2))]
/// async fn post(lines: &mut Lines, cx: &Context, amount: &u32) -> Result<u32, String> {
///     lines.0.push(format!("{amount} in attempt {}", cx.attempt()));
///     if cx.attempt() == 0 { Err("the first attempt is undone".into()) } else { Ok(*amount) }
/// }
///
/// flow! {
///     Posting(amount: u32) -> (post: u32) {
///         start >> post >> end;
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), FlowError> {
/// let book = Book::default();
/// let options = RunOptions::new().transactions(book.clone());
/// Posting::new().run_with(PostingInput { amount: 7 }, options).await?;
/// assert_eq!(*book.0.lock().unwrap(), ["7 in attempt 1"]);
/// # Ok(()) }
/// ```
pub trait Transactions: fmt::Debug + Send + Sync + 'static {
    /// Begins a transaction for an attempt at the step at this place. Dropping the future begins no
    /// transaction.
    ///
    /// # Errors
    ///
    /// The database cannot be reached. The attempt then fails with this error.
    fn begin<'a>(
        &'a self,
        place: &'a Place,
    ) -> BoxFuture<'a, Result<Box<dyn OpenTransaction>, BoxError>>;
}

/// An open transaction. If it is dropped, it is rolled back.
pub trait OpenTransaction: Send {
    /// The value that the node gets as `&mut T`.
    fn handle(&mut self) -> &mut (dyn Any + Send);

    /// The name of the type of that value, for messages.
    fn type_name(&self) -> &'static str;

    /// Commits after the node has returned its value, or leaves that to the engine of the run,
    /// which then commits together with the outcome.
    ///
    /// # Errors
    ///
    /// The transaction was not committed. The attempt fails with this error.
    fn commit(self: Box<Self>) -> BoxFuture<'static, Result<(), BoxError>>;

    /// Rolls back after the node has failed. Returns when nothing of the transaction is left.
    fn roll_back(self: Box<Self>) -> BoxFuture<'static, ()>;
}
