use uuid::Uuid;

use super::fixtures::*;
use crate::{
    Append, EndIf, ExecutionId, ListQuery, Mark, RecordKind, Row, Settlement, Status, StoreError,
    TakeOvers,
};

const MARK: TakeOvers = TakeOvers {
    count: 3,
    at_seq: 1,
};

fn halted() -> Mark {
    Mark {
        halted: Some("node `orders.pay` panicked: \u{0}no \"money\"".to_owned()),
        take_overs: Some(MARK),
        options: None,
    }
}

async fn release(store: &Stored, id: ExecutionId, fence: u64) {
    let release = Append {
        release: true,
        ..append(Vec::new())
    };
    store.append(id, fence, release).await.unwrap();
}

/// Creates a halted execution without a claim.
async fn halt(store: &Stored) -> ExecutionId {
    let (id, fence) = claimed(store).await;
    store.mark(id, fence, halted()).await.unwrap();
    release(store, id, fence).await;
    id
}

async fn listed(store: &Stored, halted: bool) -> Vec<ExecutionId> {
    let query = ListQuery {
        halted: Some(halted),
        ..ListQuery::default()
    };
    let rows = list(store, &query).await.into_iter();
    rows.map(|row| row.id).collect()
}

/// A mark survives writes and claims until the next mark, and changes nothing else.
pub async fn keep_what_they_are_given(store: Stored) {
    let (id, fence) = claimed(&store).await;
    let before = stored(&store, id).await;
    assert_eq!((&before.halted, before.take_overs), (&None, None));
    store.mark(id, fence, halted()).await.unwrap();
    let expected = Row {
        halted: halted().halted,
        take_overs: Some(MARK),
        ..before.clone()
    };
    assert_eq!(stored(&store, id).await, expected);
    assert_eq!(store.records(id, 0, usize::MAX).await.unwrap().len(), 1);
    store
        .append(id, fence, append(records(1..3)))
        .await
        .unwrap();
    release(&store, id, fence).await;
    let row = store.claim(id, Uuid::new_v4(), NOW, NOW + LEASE).await;
    let row = row.unwrap().expect("the claim was given up");
    let kept = Row {
        fence: 2,
        next_seq: 3,
        updated_ms: NOW + 1,
        ..expected
    };
    assert_eq!(row, kept);
    store.mark(id, 2, Mark::default()).await.unwrap();
    let expected = Row {
        halted: None,
        take_overs: None,
        ..kept
    };
    assert_eq!(stored(&store, id).await, expected);
}

/// A mark may give an execution other options, and leaves everything else as it was.
pub async fn change_options(store: Stored) {
    let (id, fence) = claimed(&store).await;
    let before = stored(&store, id).await;
    for options in ["{\"stepBudget\":7}", "{\"said\":\"\u{0} and \\\"so\\\"\"}"] {
        let mark = Mark {
            options: Some(options.to_owned()),
            ..halted()
        };
        store.mark(id, fence, mark).await.unwrap();
        let expected = Row {
            options: options.to_owned(),
            halted: halted().halted,
            take_overs: halted().take_overs,
            ..before.clone()
        };
        assert_eq!(stored(&store, id).await, expected);
        store.mark(id, fence, Mark::default()).await.unwrap();
        let expected = Row {
            halted: None,
            take_overs: None,
            ..expected
        };
        assert_eq!(stored(&store, id).await, expected);
    }
    store
        .append(id, fence, append(records(1..3)))
        .await
        .unwrap();
    let options = stored(&store, id).await.options;
    assert_eq!(options, "{\"said\":\"\u{0} and \\\"so\\\"\"}");
}

/// A halted execution is never due.
pub async fn are_not_due(store: Stored) {
    let running = halt(&store).await;
    let answered = paused(&store, |id| vec![question(id)]).await;
    let token = store.pauses(answered).await.unwrap()[0].token;
    let (lost, fence) = claimed(&store).await;
    store.mark(lost, fence, halted()).await.unwrap();
    let fence = claim(&*store, answered).await;
    store.mark(answered, fence, halted()).await.unwrap();
    release(&store, answered, fence).await;
    let answer = Settlement::Answer("1".to_owned());
    store.settle(token, answer, NOW).await.unwrap();
    // The clock of the holder of this claim is ahead.
    let ahead = started(&*store).await;
    let (now, until) = (NOW + 9 * HOUR, NOW + 9 * HOUR + LEASE);
    let row = store.claim(ahead, Uuid::new_v4(), now, until).await;
    let fence = row.unwrap().expect("nobody has claimed it").fence;
    store.mark(ahead, fence, halted()).await.unwrap();
    assert!(first_due(&store, NOW + HOUR, usize::MAX).await.is_empty());

    let mut expected = vec![running, answered];
    expected.sort();
    for id in &expected {
        let fence = claim(&*store, *id).await;
        store.mark(*id, fence, Mark::default()).await.unwrap();
        release(&store, *id, fence).await;
    }
    assert_eq!(first_due(&store, NOW, usize::MAX).await, expected);
}

/// Halted executions can be listed, unless they are over.
pub async fn are_listed(store: Stored) {
    let (first, other) = (halt(&store).await, started(&*store).await);
    let (second, over) = (halt(&store).await, halt(&store).await);
    let mut expected = vec![first, second, over];
    expected.sort();
    expected.reverse();
    assert_eq!(listed(&store, true).await, expected);
    assert_eq!(listed(&store, false).await, [other]);
    let last = record(0, RecordKind::RunCancelled);
    let ended = store.end(over, Status::Cancelled, "no", last, EndIf::NotOver);
    assert_eq!(ended.await.unwrap().halt(), None);
    expected.retain(|id| *id != over);
    assert_eq!(listed(&store, true).await, expected);
    let owned = ListQuery {
        halted: Some(true),
        owner: Some(None),
        flow: Some("orders".to_owned()),
        status: Some(Status::Running),
        limit: Some(1),
        before: Some(expected[0]),
        ..ListQuery::default()
    };
    let rows = list(&store, &owned).await;
    assert_eq!(
        rows.iter().map(|row| row.id).collect::<Vec<_>>(),
        [expected[1]]
    );
    assert!(store.delete(first).await.unwrap());
    expected.retain(|id| *id != first);
    assert_eq!(listed(&store, true).await, expected);
}

/// Only the holder of the claim marks an execution.
pub async fn are_made_by_the_holder_of_the_claim(store: Stored) {
    let (id, fence) = claimed(&store).await;
    let before = everything(&store, id).await;
    let refused = store.mark(id, fence + 1, halted()).await.unwrap_err();
    assert!(matches!(refused, StoreError::LeaseLost(_)), "{refused}");
    assert_eq!(everything(&store, id).await, before);
    release(&store, id, fence).await;
    let refused = store.mark(id, fence, halted()).await.unwrap_err();
    assert!(matches!(refused, StoreError::LeaseLost(_)), "{refused}");
    let (over, fence) = claimed(&store).await;
    let ends = Append {
        status: Some(Status::Completed),
        ..append(records(1..2))
    };
    store.append(over, fence, ends).await.unwrap();
    let refused = store.mark(over, fence, halted()).await.unwrap_err();
    assert!(matches!(refused, StoreError::LeaseLost(_)), "{refused}");
    let refused = store.mark(new_id(), 1, halted()).await.unwrap_err();
    assert!(matches!(refused, StoreError::NotFound(_)), "{refused}");
}
