//! The store with all values beside it.

use flow_store::{BlobStore, MemoryBlobs};

use crate::servers::Fresh;

flow_store::suite!(|_folder| async {
    let store = Fresh::direct().await?;
    Some(BlobStore::new(store, MemoryBlobs::new()).above(0))
});

mod by_its_clock {
    use super::*;

    flow_store::clock_suite!(|_folder| async {
        let store = Fresh::with_its_clock().await?;
        Some(BlobStore::new(store, MemoryBlobs::new()).above(0))
    });
}

mod when_answers_are_lost {
    use std::sync::Arc;

    use super::*;
    use crate::lost_answers::{Behind, behind_a_proxy};
    use crate::servers::options_with_given_times;

    flow_store::lost_answer_suite!(|_folder| async {
        let (proxy, store) = behind_a_proxy(options_with_given_times()).await?;
        let store = BlobStore::new(store, MemoryBlobs::new()).above(0);
        Some(Behind(proxy, Arc::new(store)))
    });
}
