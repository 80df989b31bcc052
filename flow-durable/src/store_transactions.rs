//! The database of a store, for runs that are not stored there.

use std::any::Any;
use std::sync::Arc;

use flow_runtime::engine::Place;
use flow_runtime::{BoxError, BoxFuture, OpenTransaction, Transactions};
use flow_store::{Store, StoreTransaction};

/// The database of a store, for plain runs of flows with transactions: pass it to
/// [`RunOptions::transactions`](flow_runtime::RunOptions::transactions).
///
/// In such a run, a step's rows are committed when the step has returned its value. The run is not
/// recorded, so another run of the flow repeats them.
#[derive(Debug, Clone)]
pub struct StoreTransactions(Arc<dyn Store>);

impl StoreTransactions {
    /// The database of this store.
    pub fn new(store: impl Store) -> Self {
        StoreTransactions(Arc::new(store))
    }
}

impl Transactions for StoreTransactions {
    fn begin<'a>(
        &'a self,
        _place: &'a Place,
    ) -> BoxFuture<'a, Result<Box<dyn OpenTransaction>, BoxError>> {
        Box::pin(async move {
            let open: Box<dyn OpenTransaction> = Box::new(Plain {
                transaction: self.0.begin().await?,
                type_name: self.0.transactions().unwrap_or_default(),
            });
            Ok(open)
        })
    }
}

struct Plain {
    transaction: Box<dyn StoreTransaction>,
    type_name: &'static str,
}

impl OpenTransaction for Plain {
    fn handle(&mut self) -> &mut (dyn Any + Send) {
        self.transaction.handle()
    }

    fn type_name(&self) -> &'static str {
        self.type_name
    }

    fn commit(self: Box<Self>) -> BoxFuture<'static, Result<(), BoxError>> {
        Box::pin(async move { Ok(self.transaction.commit().await?) })
    }

    fn roll_back(self: Box<Self>) -> BoxFuture<'static, ()> {
        Box::pin(async move { self.transaction.roll_back().await })
    }
}
