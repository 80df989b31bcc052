//! An attempt at a node with `#[node(transaction)]`.

use std::any::{Any, type_name};
use std::marker::PhantomData;

use crate::node_error::Failure;
use crate::transaction::OpenTransaction;
use crate::visit::Visit;

/// The error of an attempt in a transaction.
#[derive(Debug)]
pub enum InTransaction<E> {
    /// The node returned this error, and its transaction was rolled back.
    Node(E),
    /// The transaction could not be begun or committed.
    Database(Failure),
}

/// A transaction that a node gets as `&mut T`.
pub struct Begun<T> {
    open: Box<dyn OpenTransaction>,
    handle: PhantomData<fn() -> T>,
}

impl<T: Any + Send> Begun<T> {
    /// The value that the node gets.
    pub fn get(&mut self) -> &mut T {
        match self.open.handle().downcast_mut() {
            Some(handle) => handle,
            None => unreachable!("its type was checked when it was begun"),
        }
    }

    /// Commits if the node has returned a value.
    pub async fn end<V, E>(self, result: Result<V, E>) -> Result<V, InTransaction<E>> {
        match result {
            Ok(value) => match self.open.commit().await {
                Ok(()) => Ok(value),
                Err(error) => Err(InTransaction::Database(Failure::Returned(error))),
            },
            Err(error) => {
                self.open.roll_back().await;
                Err(InTransaction::Node(error))
            }
        }
    }
}

impl Visit<'_> {
    /// Begins a transaction for an attempt.
    pub async fn begin<T: Any + Send, E>(&self) -> Result<Begun<T>, InTransaction<E>> {
        let scope = self.scope;
        let refused = |message: String| InTransaction::Database(Failure::Returned(message.into()));
        let transactions = scope.run().transactions();
        let transactions = transactions.ok_or_else(|| {
            refused("no database is there for its transaction: give the run one by `RunOptions::transactions`".to_owned())
        })?;
        let begun = transactions.begin(&scope.frame().place()).await;
        let mut open = begun.map_err(|error| InTransaction::Database(Failure::Returned(error)))?;
        if !open.handle().is::<T>() {
            let (asked, given) = (type_name::<T>(), open.type_name());
            open.roll_back().await;
            return Err(refused(format!(
                "it asks for a `{asked}`, but the run's database has transactions of the type `{given}`"
            )));
        }
        Ok(Begun {
            open,
            handle: PhantomData,
        })
    }
}
