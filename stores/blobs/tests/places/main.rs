//! Blobs in folders and in object stores, and executions whose values are there.

mod executions;
mod folders;
#[cfg(feature = "objects")]
mod objects;
#[cfg(feature = "aws")]
mod s3;

/// The error with which opening a place is refused, with its causes.
async fn refused(address: &str) -> String {
    let error = flow_blobs::open(address).await.expect_err(address);
    flow_store::suite::fixtures::told(&error)
}

#[tokio::test]
async fn what_is_not_a_place_is_refused() {
    for address in ["", "ftp://me:secret@host/blobs", "S4://bucket"] {
        let told = refused(address).await;
        assert!(
            told.contains("is not a place for blobs: write the path of a folder"),
            "{told}"
        );
        assert!(!told.contains("secret"), "{told}");
    }
}

#[cfg(not(feature = "azure"))]
#[tokio::test]
async fn a_place_whose_feature_is_missing_says_so() {
    let told = refused("az://container/blobs?sig=secret").await;
    let expected = "`az://container/blobs` needs the feature `azure` of flow-blobs";
    assert!(told.contains(expected), "{told}");
    assert!(!told.contains("secret"), "{told}");
}
