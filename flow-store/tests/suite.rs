//! The stores in memory pass the suites.

flow_store::suite!(|_folder| async { flow_store::MemoryStore::new() });

#[cfg(feature = "blobs")]
mod with_blobs {
    use flow_store::{BlobStore, MemoryBlobs, MemoryStore};

    mod places {
        flow_store::blob_suite!(|_folder| async { Some(super::MemoryBlobs::new()) });
    }

    mod all_values {
        use super::*;

        flow_store::suite!(|_folder| async {
            BlobStore::new(MemoryStore::new(), MemoryBlobs::new()).above(0)
        });
    }

    mod large_values {
        use super::*;

        flow_store::suite!(|_folder| async {
            BlobStore::new(MemoryStore::new(), MemoryBlobs::new())
        });
    }
}
