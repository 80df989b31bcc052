//! Blobs that are not what was put there.

use flow_store::suite::fixtures::{append, claimed};
use flow_store::{Append, Blobs as _, ListQuery, Status, Store as _, StoreError};

use crate::{Kept, large, with_payload};

/// The names of records whose values are damaged, and what is said.
#[tokio::test]
async fn a_blob_that_is_missing_or_changed_is_damage_that_names_the_record() {
    for (value, words) in [
        (None, "is missing"),
        (
            Some(large('a')[..100].to_owned()),
            "has 100 bytes, and not 202",
        ),
        (Some(large('b')), "has changed: its SHA-256 is another one"),
    ] {
        let kept = Kept::new();
        let (id, fence) = claimed(&kept.store).await;
        let end = Append {
            status: Some(Status::Completed),
            result: Some(large('a')),
            ..append(vec![with_payload(1, large('a')), with_payload(2, "2")])
        };
        kept.store.append(id, fence, end).await.unwrap();
        let name = kept.blobs.names(&id.to_string()).await.unwrap().remove(0);
        match value {
            None => kept.blobs.delete(&name).await.unwrap(),
            Some(value) => kept.blobs.put(&name, value.into()).await.unwrap(),
        }

        let record = format!("the store is damaged at execution {id}, record 1: the blob `{name}`");
        let error = kept.store.records(id, 0, 9).await.unwrap_err();
        assert!(matches!(error, StoreError::Corrupt { .. }), "{error:?}");
        assert_eq!(error.to_string(), format!("{record} {words}"));
        // What is beside it can be read.
        assert_eq!(kept.store.records(id, 2, 9).await.unwrap().len(), 1);
        let log = kept.store.log(None, 0, 9).await.unwrap();
        assert!(log[0].is_ok() && log[2].is_ok());
        let damaged = log[1].as_ref().unwrap_err();
        assert_eq!(damaged.damaged.to_string(), format!("{record} {words}"));
        assert_eq!(damaged.damaged.execution, Some(id));
        let after = kept.store.log(None, damaged.offset, 9).await.unwrap();
        assert_eq!(after, log[2..]);

        let result = record.replace("record 1", "the result");
        let error = kept.store.execution(id).await.unwrap_err();
        assert_eq!(error.to_string(), format!("{result} {words}"));
        let other = claimed(&kept.store).await.0;
        let listed = kept.store.list(&ListQuery::default()).await.unwrap();
        assert_eq!(listed[0].as_ref().unwrap().id, other);
        let damaged = listed[1].as_ref().unwrap_err();
        assert_eq!(damaged.to_string(), format!("{result} {words}"));
    }
}

/// A marker that is damaged itself is not taken for a payload, and leads nowhere else.
#[tokio::test]
async fn a_marker_that_cannot_be_read_is_damage() {
    let hash = "0".repeat(64);
    for marker in [
        "flow-blob:1:abc:3".to_owned(),
        format!("flow-blob:1:../../{}:3", &hash[6..]),
        format!("flow-blob:1/../..:{hash}:3"),
    ] {
        let kept = Kept::new();
        let (id, fence) = claimed(&kept.store).await;
        let write = append(vec![with_payload(1, marker)]);
        kept.inner.append(id, fence, write).await.unwrap();
        let error = kept.store.records(id, 0, 9).await.unwrap_err().to_string();
        let expected = "record 1: it begins like the marker of a blob, and is not one";
        assert!(error.contains(expected), "{error}");
    }
}
