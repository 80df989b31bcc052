//! Places that fail, or in which something happens meanwhile.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use flow_store::suite::fixtures::{append, claimed, list, new_id, record, records, told};
use flow_store::{
    Append, BlobStore, Blobs, EndIf, ExecutionId, ListQuery, MemoryBlobs, MemoryStore, Record,
    RecordKind, Status, Store, StoreError,
};

use crate::{ABOVE, Kept, large, with_payload};

/// A place that does something just before its nth answer, or fails.
#[derive(Debug)]
struct Watched {
    blobs: Arc<MemoryBlobs>,
    inner: Arc<MemoryStore>,
    gone: ExecutionId,
    fails: &'static str,
    gets: AtomicUsize,
    at_once: AtomicUsize,
    most_at_once: AtomicUsize,
}

impl Watched {
    fn new(fails: &'static str, gone: ExecutionId, kept: &Kept) -> Arc<Watched> {
        Arc::new(Watched {
            blobs: kept.blobs.clone(),
            inner: kept.inner.clone(),
            gone,
            fails,
            gets: AtomicUsize::new(0),
            at_once: AtomicUsize::new(0),
            most_at_once: AtomicUsize::new(0),
        })
    }

    fn fail(&self, method: &str) -> Result<(), StoreError> {
        if self.fails == method {
            return Err(StoreError::Other("no connection".into()));
        }
        Ok(())
    }
}

#[async_trait::async_trait]
impl Blobs for Watched {
    async fn put(&self, name: &str, value: Vec<u8>) -> Result<(), StoreError> {
        self.fail("put")?;
        self.blobs.put(name, value).await
    }

    async fn get(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.fail("get")?;
        if self.gets.fetch_add(1, Ordering::SeqCst) == 0 && self.fails == "gone" {
            self.inner.delete(self.gone).await?;
            for name in self.blobs.names(&self.gone.to_string()).await? {
                self.blobs.delete(&name).await?;
            }
        }
        let now = self.at_once.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_at_once.fetch_max(now, Ordering::SeqCst);
        tokio::task::yield_now().await;
        self.at_once.fetch_sub(1, Ordering::SeqCst);
        self.blobs.get(name).await
    }

    async fn delete(&self, name: &str) -> Result<(), StoreError> {
        self.fail("delete")?;
        self.blobs.delete(name).await
    }

    async fn names(&self, folder: &str) -> Result<Vec<String>, StoreError> {
        self.fail("names")?;
        self.blobs.names(folder).await
    }

    async fn folders(&self) -> Result<Vec<String>, StoreError> {
        self.blobs.folders().await
    }
}

/// An execution with a large record, and a store with another place for its blobs.
async fn watched(fails: &'static str) -> (Kept, ExecutionId, u64, BlobStore<Arc<MemoryStore>>) {
    let kept = Kept::new();
    let (id, fence) = claimed(&kept.store).await;
    let write = Append {
        result: Some(large('r')),
        ..append(vec![with_payload(1, large('a'))])
    };
    kept.store.append(id, fence, write).await.unwrap();
    let watched = Watched::new(fails, id, &kept);
    let store = BlobStore::new(kept.inner.clone(), watched).above(ABOVE);
    (kept, id, fence, store)
}

/// The row was read, and is deleted before its blob is: that is no damage.
#[tokio::test]
async fn what_is_deleted_while_it_is_read_is_gone() {
    let (_, id, _, store) = watched("gone").await;
    assert_eq!(store.records(id, 0, 9).await.unwrap(), []);
    let (_, id, _, store) = watched("gone").await;
    assert_eq!(store.execution(id).await.unwrap(), None);
    let (_, _, _, store) = watched("gone").await;
    assert!(store.list(&ListQuery::default()).await.unwrap().is_empty());
    let (_, _, _, store) = watched("gone").await;
    assert!(store.log(None, 0, 9).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_place_that_fails_is_an_error_and_no_damage() {
    let (kept, id, fence, store) = watched("put").await;
    let write = append(vec![with_payload(2, large('b'))]);
    let error = store.append(id, fence, write).await.unwrap_err();
    assert!(told(&error).ends_with("no connection"), "{error:?}");
    assert_eq!(kept.inside(id).await.len(), 2, "no row without its blob");

    let (_, id, _, store) = watched("get").await;
    for error in [
        store.records(id, 0, 9).await.map(drop),
        store.execution(id).await.map(drop),
        store.list(&ListQuery::default()).await.map(drop),
        store.log(None, 0, 9).await.map(drop),
    ] {
        assert!(matches!(error, Err(StoreError::Other(_))), "{error:?}");
    }

    // What is not large does not depend on it.
    let (_, id, fence, store) = watched("put").await;
    store
        .append(id, fence, append(records(2..3)))
        .await
        .unwrap();
    assert_eq!(store.records(id, 2, 9).await.unwrap(), records(2..3));
}

/// An execution that has ended is not reported as one that could not be ended.
#[tokio::test]
async fn an_end_does_not_fetch_its_own_reason() {
    let (kept, id, _, store) = watched("get").await;
    let last = Record {
        kind: RecordKind::RunCancelled,
        ..with_payload(0, large('e'))
    };
    let reason = large('e');
    let ended = store.end(id, Status::Cancelled, &reason, last, EndIf::NotOver);
    let ended = ended.await.unwrap();
    assert_eq!(ended.status, Status::Cancelled);
    assert_eq!(ended.result, Some(reason));
    let read = kept.store.execution(id).await.unwrap().unwrap();
    assert_eq!(read, ended);
}

#[tokio::test]
async fn what_cannot_be_removed_is_said_only_of_a_deletion() {
    let (kept, id, fence, store) = watched("delete").await;
    let prune = Append {
        prune_before: Some(2),
        ..append(vec![record(2, RecordKind::Snapshot)])
    };
    store.append(id, fence, prune).await.unwrap();
    assert_eq!(kept.names(id).await.len(), 2, "it stays for the next time");

    let error = told(&store.delete(id).await.unwrap_err());
    let expected = format!("execution {id} is deleted, but not all of its blobs");
    assert!(
        error.contains(&expected) && error.ends_with("no connection"),
        "{error}"
    );
    assert!(kept.inner.execution(id).await.unwrap().is_none());
    // It is deleted already, and what was left goes with the second try.
    assert!(!kept.store.delete(id).await.unwrap());
    assert!(kept.names(id).await.is_empty());
}

#[tokio::test]
async fn a_list_fetches_several_at_once_and_not_all() {
    let kept = Kept::new();
    for _ in 0..50 {
        let (id, fence) = claimed(&kept.store).await;
        let end = Append {
            status: Some(Status::Completed),
            result: Some(large('a')),
            ..append(Vec::new())
        };
        kept.store.append(id, fence, end).await.unwrap();
    }
    let watched = Watched::new("", new_id(), &kept);
    let store: Arc<dyn Store> = Arc::new(BlobStore::new(kept.inner.clone(), watched.clone()));
    let listed = list(&store, &ListQuery::default()).await;
    assert!(listed.iter().all(|row| row.result == Some(large('a'))));
    assert_eq!(listed.len(), 50);
    assert_eq!(watched.gets.load(Ordering::SeqCst), 50);
    assert_eq!(watched.most_at_once.load(Ordering::SeqCst), 8);
}
