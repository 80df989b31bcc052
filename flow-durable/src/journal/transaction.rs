//! The transaction of a step, which is committed together with the step's outcome.
//!
//! A run has one transaction at a time, and writes nothing else meanwhile: the records of its other
//! branches wait. Otherwise these could wait for a database that the transaction keeps, and the
//! transaction's commit could wait for them.

use std::any::Any;
use std::fmt;
use std::future::poll_fn;
use std::mem;
use std::sync::Arc;
use std::task::Poll;

use flow_runtime::engine::Place;
use flow_runtime::{BoxError, BoxFuture, OpenTransaction, Transactions};
use flow_store::{Store, StoreTransaction};

use super::turns::OfStep;
use super::{Journal, NewRecord};
use crate::error::RuntimeError;

impl Journal {
    /// Records the outcome of a step, with its transaction if it had one.
    pub(crate) fn add_outcome(&self, entry: NewRecord<'_>) {
        let step = entry.place.step.clone();
        self.add_urgent(entry);
        let turns = &mut self.state().turns;
        turns.of_step = match mem::take(&mut turns.of_step) {
            OfStep::Ended(of, transaction) if of == step => OfStep::Recorded(transaction),
            other => other,
        };
    }

    /// Rolls back the transaction of a step whose outcome is not recorded when the result is
    /// dropped.
    pub(crate) fn transaction_of<'a>(&'a self, place: &'a Place) -> TransactionOf<'a> {
        TransactionOf(self, place)
    }

    /// Waits until everything is written and no other step has a transaction, and gives the step
    /// its turn.
    async fn turn(self: &Arc<Self>, place: &Place) -> Turn {
        loop {
            self.all_stored().await;
            let taken = poll_fn(|cx| {
                let state = &mut *self.state();
                match state.turns.of_step {
                    OfStep::Free => {
                        let idle = state.stored == state.next_seq;
                        if idle {
                            state.turns.of_step = OfStep::Runs(place.step.clone());
                        }
                        Poll::Ready(idle)
                    }
                    _ => {
                        state.turns.waiting.push(cx.waker().clone());
                        Poll::Pending
                    }
                }
            });
            if taken.await {
                return Turn {
                    journal: self.clone(),
                    step: place.step.clone(),
                };
            }
        }
    }

    fn give_up_turn(&self, step: &str) {
        let mut state = self.state();
        let is_own = match &state.turns.of_step {
            OfStep::Runs(of) | OfStep::Ended(of, _) => of == step,
            OfStep::Free | OfStep::Recorded(_) => false,
        };
        let transaction = if is_own { state.turns.free() } else { None };
        drop(state);
        drop(transaction);
    }
}

/// See [`Journal::transaction_of`].
pub(crate) struct TransactionOf<'a>(&'a Journal, &'a Place);

impl Drop for TransactionOf<'_> {
    fn drop(&mut self) {
        self.0.give_up_turn(&self.1.step);
    }
}

/// The turn of a step, which ends when this is dropped.
struct Turn {
    journal: Arc<Journal>,
    step: String,
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut state = self.journal.state();
        if matches!(&state.turns.of_step, OfStep::Runs(of) if *of == self.step) {
            state.turns.free();
        }
    }
}

/// The store's database, for the steps of a run.
pub(crate) struct RunTransactions {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) journal: Arc<Journal>,
}

impl fmt::Debug for RunTransactions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RunTransactions").field(&self.store).finish()
    }
}

impl RunTransactions {
    /// Begins a transaction when it is the step's turn. The lease can run out meanwhile. Then the
    /// transaction is given up, since renewing the lease is a write too.
    async fn turn_and_transaction(&self, place: &Place) -> (Turn, Box<dyn StoreTransaction>) {
        loop {
            let turn = self.journal.turn(place).await;
            let transaction = match self.store.begin().await {
                Ok(transaction) => transaction,
                // The step has not failed, just as it has not if its outcome cannot be written.
                Err(error) => {
                    let (execution, path) = (self.journal.execution(), place.path.clone());
                    let error = RuntimeError::store(Some(execution), Some(path), error);
                    return self.journal.halt(error).await;
                }
            };
            if self.journal.may_go_on() {
                return (turn, transaction);
            }
            transaction.roll_back().await;
            drop(turn);
            self.journal.goes_on().await;
        }
    }
}

impl Transactions for RunTransactions {
    fn begin<'a>(
        &'a self,
        place: &'a Place,
    ) -> BoxFuture<'a, Result<Box<dyn OpenTransaction>, BoxError>> {
        Box::pin(async move {
            let (turn, transaction) = self.turn_and_transaction(place).await;
            let open: Box<dyn OpenTransaction> = Box::new(Open {
                transaction,
                type_name: self.store.transactions().unwrap_or_default(),
                turn,
            });
            Ok(open)
        })
    }
}

// The transaction is dropped before the turn.
struct Open {
    transaction: Box<dyn StoreTransaction>,
    type_name: &'static str,
    turn: Turn,
}

impl OpenTransaction for Open {
    fn handle(&mut self) -> &mut (dyn Any + Send) {
        self.transaction.handle()
    }

    fn type_name(&self) -> &'static str {
        self.type_name
    }

    /// Leaves the commit to the driver, which writes the outcome.
    fn commit(mut self: Box<Self>) -> BoxFuture<'static, Result<(), BoxError>> {
        Box::pin(async move {
            if let Err(error) = self.transaction.check().await {
                self.transaction.roll_back().await;
                return Err(error.into());
            }
            let Open {
                transaction, turn, ..
            } = *self;
            turn.journal.state().turns.of_step = OfStep::Ended(turn.step.clone(), transaction);
            Ok(())
        })
    }

    fn roll_back(self: Box<Self>) -> BoxFuture<'static, ()> {
        Box::pin(async move { self.transaction.roll_back().await })
    }
}
