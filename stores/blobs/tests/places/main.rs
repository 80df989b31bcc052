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
    let expected = "`az://container/blobs` needs the feature `azure` of typed-flows-blobs";
    assert!(told.contains(expected), "{told}");
    assert!(!told.contains("secret"), "{told}");
}

/// The errors of object stores and of HTTP show whole addresses.
#[cfg(all(feature = "aws", feature = "azure", feature = "http"))]
#[tokio::test]
async fn an_address_with_a_password_is_refused() {
    for address in [
        "https://me:secret@127.0.0.1:1/blobs",
        "http://secret@127.0.0.1:1/blobs",
        "s3://me:secret@bucket/blobs",
        "abfss://me:secret@account.dfs.core.windows.net/blobs",
    ] {
        let told = refused(address).await;
        let expected = "was given with a user or a password, which errors would show";
        assert!(told.contains(expected), "{told}");
        assert!(!told.contains("secret"), "{told}");
    }
}
