//! Blobs in any object store.

use std::sync::Arc;

use flow_blobs::object_store::memory::InMemory;
use flow_blobs::object_store::{ObjectStoreExt as _, PutPayload};
use flow_blobs::{Blobs as _, ObjectBlobs};

mod with_a_prefix {
    use super::*;

    flow_store::blob_suite!(|_folder| async {
        Some(ObjectBlobs::new(Arc::new(InMemory::new()), "some/prefix"))
    });
}

mod without_a_prefix {
    use super::*;

    flow_store::blob_suite!(|_folder| async {
        Some(ObjectBlobs::new(Arc::new(InMemory::new()), ""))
    });
}

#[tokio::test]
async fn objects_of_others_are_left_alone() {
    let objects = Arc::new(InMemory::new());
    let blobs = ObjectBlobs::new(objects.clone(), "flows");
    blobs.put("a/b", b"value".to_vec()).await.unwrap();
    let others = [
        "flows/README",
        "flows/a/Thumbs.db",
        "flows/B/c",
        "flows/a/b/c",
        "flow/a/d",
    ];
    for other in others {
        objects.put(&other.into(), PutPayload::new()).await.unwrap();
    }
    assert_eq!(blobs.folders().await.unwrap(), ["a"]);
    assert_eq!(blobs.names("a").await.unwrap(), ["a/b"]);
    let shown = format!("{blobs:?}");
    assert!(
        shown.contains("InMemory") && shown.contains("flows"),
        "{shown}"
    );
    blobs.delete("a/b").await.unwrap();
    for other in others {
        assert!(objects.head(&other.into()).await.is_ok(), "{other}");
    }
}
