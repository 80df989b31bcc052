//! The store with all values beside it.

use flow_store::{BlobStore, MemoryBlobs};

use crate::servers::Fresh;

flow_store::suite!(|_folder| async {
    let store = Fresh::direct().await?;
    Some(BlobStore::new(store, MemoryBlobs::new()).above(0))
});

mod when_answers_are_lost {
    use std::sync::Arc;

    use super::*;
    use crate::lost_answers::{Behind, behind_a_proxy};
    use crate::servers::options;

    flow_store::lost_answer_suite!(|_folder| async {
        let (proxy, store) = behind_a_proxy(options()).await?;
        let store = BlobStore::new(store, MemoryBlobs::new()).above(0);
        Some(Behind(proxy, Arc::new(store)))
    });
}
