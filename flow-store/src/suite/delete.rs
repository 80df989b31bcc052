use super::fixtures::*;
use crate::EndIf;
use crate::{Created, ListQuery, PauseRow, Row, Settlement, Status, StoreError};

/// Nothing is left of a deleted execution: no row, records, questions or claim, and no entry in
/// lists and the log.
pub async fn removes_all_that_belongs_to_it(store: Stored) {
    let id = paused(&store, |id| vec![expiring(id, NOW + 5), question(id)]).await;
    let asked = store.pauses(id).await.unwrap();
    store
        .settle(asked[1].token, Settlement::TimedOut, NOW)
        .await
        .unwrap();
    let holder = uuid::Uuid::new_v4();
    store.claim(id, holder, NOW, NOW + LEASE).await.unwrap();

    assert!(store.delete(id).await.unwrap());
    assert_eq!(store.execution(id).await.unwrap(), None);
    assert!(store.records(id, 0, 10).await.unwrap().is_empty());
    assert!(store.pauses(id).await.unwrap().is_empty());
    for pause in &asked {
        assert_eq!(store.pause(pause.token).await.unwrap(), None);
    }
    assert!(list(&store, &ListQuery::default()).await.is_empty());
    assert!(first_due(&store, NOW + 9 * LEASE, 10).await.is_empty());
    assert!(log(&store, 0, 10).await.is_empty());
    assert!(
        store
            .renew(holder, NOW + 9 * LEASE)
            .await
            .unwrap()
            .is_empty()
    );
    assert!(!store.delete(id).await.unwrap());

    // The id and the tokens are free again.
    let again = vec![PauseRow {
        token: asked[0].token,
        ..question(id)
    }];
    store
        .create(row(id), Vec::new(), again.clone(), None)
        .await
        .unwrap();
    assert!(store.records(id, 0, 10).await.unwrap().is_empty());
    assert_eq!(store.pauses(id).await.unwrap(), again);
}

/// Other executions stay.
pub async fn leaves_the_others(store: Stored) {
    let gone = paused(&store, |id| vec![question(id)]).await;
    let stays = paused(&store, |id| vec![expiring(id, NOW + 5)]).await;
    let before = everything(&store, stays).await;
    assert!(store.delete(gone).await.unwrap());
    assert_eq!(everything(&store, stays).await, before);
    assert_eq!(log(&store, 0, 10).await.len(), 2);
    assert_eq!(first_due(&store, NOW + 5, 10).await, [stays]);
}

/// The key of a deleted execution can be used again.
pub async fn frees_the_key(store: Stored) {
    let with_key = |id| Row {
        idempotency_key: Some("key".to_owned()),
        ..row(id)
    };
    let first = new_id();
    let created = store.create(with_key(first), Vec::new(), Vec::new(), None);
    assert_eq!(created.await.unwrap(), Created::New);
    assert!(store.delete(first).await.unwrap());
    let created = store.create(with_key(new_id()), Vec::new(), Vec::new(), None);
    assert_eq!(created.await.unwrap(), Created::New);
}

/// A deleted execution cannot be written to, ended or answered.
pub async fn makes_writes_fail(store: Stored) {
    let id = paused(&store, |id| vec![question(id)]).await;
    let token = store.pauses(id).await.unwrap()[0].token;
    let fence = claim(&store, id).await;
    assert!(store.delete(id).await.unwrap());
    let write = store.append(id, fence, append(records(2..3))).await;
    assert!(matches!(write, Err(StoreError::NotFound(_))), "{write:?}");
    let record = records(0..1).remove(0);
    let ended = store
        .end(id, Status::Cancelled, "", record, EndIf::NotOver)
        .await;
    assert!(matches!(ended, Err(StoreError::NotFound(_))), "{ended:?}");
    let settled = store.settle(token, Settlement::TimedOut, NOW).await;
    assert!(
        matches!(settled, Err(StoreError::UnknownToken(_))),
        "{settled:?}"
    );
    let claim = store.claim(id, uuid::Uuid::new_v4(), NOW, NOW + 1).await;
    assert_eq!(claim.unwrap(), None);
    assert_eq!(store.last_offset().await.unwrap(), 0);
}
