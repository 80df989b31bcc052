//! The transactions of a store that keeps large values as blobs.

use std::any::Any;

use async_trait::async_trait;

use super::values::Values;
use crate::{Append, ExecutionId, StoreError, StoreTransaction};

pub(super) struct BlobTransaction {
    pub(super) begun: Box<dyn StoreTransaction>,
    pub(super) values: Values,
}

#[async_trait]
impl StoreTransaction for BlobTransaction {
    fn handle(&mut self) -> &mut (dyn Any + Send) {
        self.begun.handle()
    }

    async fn check(&mut self) -> Result<(), StoreError> {
        self.begun.check().await
    }

    async fn append(
        self: Box<Self>,
        id: ExecutionId,
        fence: u64,
        mut append: Append,
    ) -> Result<(), StoreError> {
        if let Err(error) = self.values.put_away(id, &mut append).await {
            self.begun.roll_back().await;
            return Err(error);
        }
        let pruned = append.prune_before;
        self.begun.append(id, fence, append).await?;
        self.values.prune(id, pruned).await;
        Ok(())
    }

    async fn commit(self: Box<Self>) -> Result<(), StoreError> {
        self.begun.commit().await
    }

    async fn roll_back(self: Box<Self>) {
        self.begun.roll_back().await;
    }
}
