use std::path::PathBuf;
use std::sync::Arc;

use super::fixtures::{at_once, told};
use crate::{Blobs, StoreError};

/// Generates a `#[test]` for each case that a place for [`Blobs`] has to pass.
///
/// Takes a function that gets an empty folder and returns a future of an empty place. `None` skips
/// the cases.
///
/// ```
/// mod in_memory {
///     flow_store::blob_suite!(|_folder| async { Some(flow_store::MemoryBlobs::new()) });
/// }
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! blob_suite {
    ($fresh:expr) => {
        $crate::__blob_suite! {
            [$fresh]
            are_as_they_were_put,
            are_none_where_none_was_put,
            are_replaced_as_a_whole,
            are_put_by_many_at_once,
            are_deleted,
            are_put_while_others_are_deleted,
            are_listed_by_folder_in_order,
            have_no_other_names,
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __blob_suite {
    ([$fresh:expr] $($case:ident),+ $(,)?) => {
        fn __fresh(
            folder: ::std::path::PathBuf,
        ) -> impl ::std::future::Future<Output = ::std::option::Option<impl $crate::Blobs>> {
            $crate::suite::fresh($fresh, folder)
        }

        $(
            #[test]
            fn $case() {
                $crate::suite::blobs::test(__fresh, $crate::suite::blobs::$case);
            }
        )+
    };
}

type Placed = Arc<dyn Blobs>;

/// Runs a case on a separate place. `None` skips it.
///
/// # Panics
///
/// The case fails.
pub fn test<B: Blobs, FreshFuture, CaseFuture>(
    fresh: impl FnOnce(PathBuf) -> FreshFuture,
    case: impl FnOnce(Placed) -> CaseFuture,
) where
    FreshFuture: Future<Output = Option<B>>,
    CaseFuture: Future<Output = ()>,
{
    super::run(fresh, async |blobs| {
        if let Some(blobs) = blobs {
            case(Arc::new(blobs)).await;
        }
    });
}

/// Values of any bytes are returned, including empty and large ones.
pub async fn are_as_they_were_put(blobs: Placed) {
    let mut large: Vec<u8> = (0..=255).cycle().take(5 << 20).collect();
    large.extend(b"the end");
    let values = [Vec::new(), b"\0\xff{}".to_vec(), large];
    for (index, value) in values.iter().enumerate() {
        let name = format!("a-folder/{index}");
        blobs.put(&name, value.clone()).await.unwrap();
    }
    for (index, value) in values.iter().enumerate() {
        let got = blobs.get(&format!("a-folder/{index}")).await.unwrap();
        assert!(got.as_ref() == Some(value), "{index}");
    }
}

/// A value that was never put is absent, which is not an error.
pub async fn are_none_where_none_was_put(blobs: Placed) {
    assert_eq!(blobs.get("a/b").await.unwrap(), None);
    blobs.put("a/bc", b"1".to_vec()).await.unwrap();
    for name in ["a/b", "a/bcd", "bc/a", "a-b/c"] {
        assert_eq!(blobs.get(name).await.unwrap(), None, "{name}");
    }
}

/// A new value replaces the old one, whether it is longer or shorter.
pub async fn are_replaced_as_a_whole(blobs: Placed) {
    for value in ["a value", "a", "a longer value"] {
        blobs.put("a/b", value.into()).await.unwrap();
        assert_eq!(blobs.get("a/b").await.unwrap(), Some(value.into()));
    }
    assert_eq!(blobs.names("a").await.unwrap(), ["a/b"]);
}

/// Of concurrent values with one name, one stays; readers see a whole value or none.
pub async fn are_put_by_many_at_once(blobs: Placed) {
    let value = |task: usize| vec![b'0' + u8::try_from(task).unwrap(); 100_000 + task];
    let outcomes = at_once(8, |task| {
        let blobs = blobs.clone();
        async move {
            blobs.put("same/name", value(task)).await?;
            blobs.put(&format!("same/{task}"), value(task)).await?;
            blobs.get("same/name").await
        }
    });
    for seen in outcomes.await {
        let seen = seen.unwrap().expect("one was put");
        assert!((0..8).any(|task| seen == value(task)));
    }
    assert_eq!(blobs.names("same").await.unwrap().len(), 9);
    for task in 0..8 {
        let got = blobs.get(&format!("same/{task}")).await.unwrap();
        assert!(got == Some(value(task)), "{task}");
    }
}

/// Only that value is deleted. Deleting it again is not an error.
pub async fn are_deleted(blobs: Placed) {
    for name in ["a/1", "a/2", "b/1"] {
        blobs.put(name, name.into()).await.unwrap();
    }
    for _ in 0..2 {
        blobs.delete("a/1").await.unwrap();
        assert_eq!(blobs.get("a/1").await.unwrap(), None);
    }
    assert_eq!(blobs.get("a/2").await.unwrap(), Some(b"a/2".to_vec()));
    assert_eq!(blobs.names("a").await.unwrap(), ["a/2"]);
    assert_eq!(blobs.names("b").await.unwrap(), ["b/1"]);
    blobs.delete("a/2").await.unwrap();
    assert!(blobs.names("a").await.unwrap().is_empty());
    blobs.put("a/1", b"again".to_vec()).await.unwrap();
    assert_eq!(blobs.get("a/1").await.unwrap(), Some(b"again".to_vec()));
}

/// A folder may become empty and vanish while a value is put there.
pub async fn are_put_while_others_are_deleted(blobs: Placed) {
    let outcomes = at_once(8, |task| {
        let blobs = blobs.clone();
        async move {
            for round in 0..20 {
                let name = format!("a/{task}-{round}");
                blobs.put(&name, name.clone().into()).await?;
                if blobs.get(&name).await? != Some(name.clone().into()) {
                    return Err(StoreError::Other(name.into()));
                }
                blobs.delete(&name).await?;
            }
            Ok(())
        }
    });
    for outcome in outcomes.await {
        outcome.unwrap();
    }
    assert!(blobs.names("a").await.unwrap().is_empty());
}

/// The names of one folder are listed, whatever the other folders are called.
pub async fn are_listed_by_folder_in_order(blobs: Placed) {
    assert!(blobs.folders().await.unwrap().is_empty());
    for name in ["ab/1", "a/10", "a/2", "a/b", "a-b/1", "b/a"] {
        blobs.put(name, name.into()).await.unwrap();
    }
    for (folder, names) in [
        ("a", &["a/10", "a/2", "a/b"][..]),
        ("ab", &["ab/1"]),
        ("b", &["b/a"]),
        ("1", &[]),
    ] {
        assert_eq!(blobs.names(folder).await.unwrap(), names, "{folder}");
    }
    assert_eq!(blobs.folders().await.unwrap(), ["a", "a-b", "ab", "b"]);
}

/// No name leads out of the place, or to another part of it.
pub async fn have_no_other_names(blobs: Placed) {
    for name in [
        "",
        "a",
        "/",
        "a/",
        "/a",
        "a/b/c",
        "../a",
        "a/..",
        "a/.",
        "./a",
        "a/../b",
        "A/b",
        "a/B",
        "a/b c",
        "a/b#1",
        "a\\b/c",
        "a/b\\c",
        "a/%2e%2e",
        "ä/b",
        "a/b\0",
        "/etc/passwd",
    ] {
        let refused = [
            blobs.put(name, b"1".to_vec()).await,
            blobs.get(name).await.map(drop),
            blobs.delete(name).await,
        ];
        for refused in refused {
            let told = told(&refused.expect_err(name));
            assert!(told.contains("is not the name of a blob"), "{told}");
        }
    }
    for folder in ["", "..", "a/b", "A", "a/", "."] {
        blobs.names(folder).await.expect_err(folder);
    }
    assert!(blobs.folders().await.unwrap().is_empty());
}
