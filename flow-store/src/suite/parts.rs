use super::fixtures::*;
use crate::{Created, EndIf, ExecutionId, ListQuery, RecordKind, Row, Status, StoreError};

/// Creates a part like a runtime does.
fn part(of: ExecutionId) -> Row {
    Row {
        status: Status::Queued,
        copied_from: Some(of),
        fence: 3,
        ..row(new_id())
    }
}

/// Returns the parts of this execution.
async fn parts_of(store: &Stored, of: ExecutionId) -> Vec<Row> {
    let query = ListQuery {
        copied_from: Some(of),
        ..ListQuery::default()
    };
    list(store, &query).await
}

/// A part is read back as stored, without a claim. The execution with the loop stays as it is.
pub async fn are_created_for_who_has_the_claim(store: Stored) {
    let (of, fence) = claimed(&*store).await;
    let before = stored(&store, of).await;
    let part = part(of);
    let created = store.create_part(of, fence, part.clone(), records(0..2));
    assert_eq!(created.await.unwrap(), Created::New);
    let expected = Row {
        fence: 0,
        next_seq: 2,
        ..part
    };
    assert_eq!(stored(&store, expected.id).await, expected);
    assert_eq!(
        store.records(expected.id, 0, 10).await.unwrap(),
        records(0..2)
    );
    assert_eq!(stored(&store, of).await, before);
    assert_eq!(parts_of(&store, of).await, [expected]);
}

/// An existing part stays as it is.
pub async fn are_created_once(store: Stored) {
    let (of, fence) = claimed(&*store).await;
    let part = part(of);
    let created = store.create_part(of, fence, part.clone(), records(0..1));
    assert_eq!(created.await.unwrap(), Created::New);
    let before = everything(&store, part.id).await;
    let created = store.create_part(of, fence, part.clone(), records(0..2));
    assert_eq!(created.await.unwrap(), Created::Existing(part.id));
    assert_eq!(everything(&store, part.id).await, before);
}

/// Nothing is created for an execution that is claimed by another, by nobody, over or gone.
pub async fn are_refused_without_the_claim(store: Stored) {
    let (of, fence) = claimed(&*store).await;
    let unclaimed = started(&*store).await;
    for (of, fence) in [(of, fence + 1), (of, fence - 1), (unclaimed, 0)] {
        let created = store.create_part(of, fence, part(of), records(0..1)).await;
        assert!(
            matches!(created, Err(StoreError::LeaseLost(id)) if id == of),
            "{created:?}"
        );
    }
    let last = record(0, RecordKind::RunCancelled);
    let ended = store.end(of, Status::Cancelled, "deleted", last, EndIf::NotOver);
    let over = ended.await.unwrap();
    for fence in [fence, over.fence] {
        let created = store.create_part(of, fence, part(of), records(0..1)).await;
        assert!(
            matches!(created, Err(StoreError::LeaseLost(id)) if id == of),
            "{created:?}"
        );
    }
    assert!(store.delete(of).await.unwrap());
    let created = store.create_part(of, fence, part(of), records(0..1)).await;
    assert!(
        matches!(created, Err(StoreError::NotFound(id)) if id == of),
        "{created:?}"
    );
    assert!(parts_of(&store, of).await.is_empty());
}

/// A caller that ends an execution while its parts are created sees all of them.
pub async fn are_all_there_when_their_execution_ends(store: Stored) {
    for _ in 0..10 {
        let (of, fence) = claimed(&*store).await;
        let seen = at_once(8, |number| {
            let store = store.clone();
            async move {
                if number != 4 {
                    // It is refused if it is late.
                    let _ = store.create_part(of, fence, part(of), records(0..1)).await;
                    return None;
                }
                let last = record(0, RecordKind::RunCancelled);
                let ended = store.end(of, Status::Cancelled, "deleted", last, EndIf::NotOver);
                ended.await.unwrap();
                Some(parts_of(&store, of).await)
            }
        })
        .await;
        let seen = seen.into_iter().flatten().next();
        assert_eq!(seen, Some(parts_of(&store, of).await));
    }
}
