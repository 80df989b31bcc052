use super::fixtures::*;
use crate::{
    Append, CANCEL, EndIf, ExecutionId, ListQuery, NewSignal, RecordKind, Row, Sent, Status,
    StoreError,
};

fn cancellation(now_ms: u64) -> NewSignal {
    NewSignal {
        now_ms,
        ..keyed(CANCEL, "once")
    }
}

async fn cancel(store: &Stored, id: ExecutionId, now_ms: u64) {
    let sent = store.signal(id, cancellation(now_ms)).await.unwrap();
    assert!(matches!(sent, Sent::New(_)), "{sent:?}");
}

async fn end(store: &Stored, id: ExecutionId, condition: EndIf) -> Row {
    let last = record(0, RecordKind::RunCancelled);
    let ended = store.end(id, Status::Cancelled, "late", last, condition);
    ended.await.unwrap()
}

async fn with(store: &Stored, status: Status) -> Vec<ExecutionId> {
    let rows = list(store, &ListQuery::default().with_status(status)).await;
    assert!(rows.iter().all(|row| row.shown_status() == status));
    rows.into_iter().map(|row| row.id).collect()
}

/// The signal of a cancellation sets the time, the first one only. Another signal does not, and the
/// time survives writes, pauses and claims.
pub async fn is_noted_until_the_end(store: Stored) {
    let (id, fence) = claimed(&store).await;
    store.signal(id, signal("paid")).await.unwrap();
    assert_eq!(stored(&store, id).await.cancelled_ms, None);
    cancel(&store, id, NOW + 7).await;
    let row = stored(&store, id).await;
    assert_eq!((row.cancelled_ms, row.updated_ms), (Some(NOW + 7), NOW + 7));
    assert_eq!(row.status, Status::Running);
    assert_eq!(row.shown_status(), Status::Cancelling);
    let again = store.signal(id, cancellation(NOW + 9)).await.unwrap();
    assert!(matches!(again, Sent::Existing { .. }), "{again:?}");
    let pauses = Append {
        status: Some(Status::Paused),
        taken: vec![1, 2],
        timer_ms: Some(NOW + HOUR),
        release: true,
        ..append(records(1..2))
    };
    store.append(id, fence, pauses).await.unwrap();
    let row = stored(&store, id).await;
    assert_eq!(
        (row.cancelled_ms, row.status),
        (Some(NOW + 7), Status::Paused)
    );
    assert_eq!(row.shown_status(), Status::Cancelling);
    assert!(first_due(&store, NOW, usize::MAX).await.is_empty());
    assert_eq!(first_due(&store, NOW + HOUR, usize::MAX).await, [id]);
    let fence = claim(&*store, id).await;
    assert!(stored(&store, id).await.is_cancelling());
    let ends = Append {
        status: Some(Status::Cancelled),
        ..append(records(2..3))
    };
    store.append(id, fence, ends).await.unwrap();
    let row = stored(&store, id).await;
    assert_eq!(row.shown_status(), Status::Cancelled);
    assert!(!row.is_cancelling());
}

/// Executions are listed by the status that is shown, page by page, until they are over.
pub async fn is_listed(store: Stored) {
    let (running, _) = claimed(&store).await;
    let paused_one = paused(&store, |id| vec![question(id)]).await;
    let others = [started(&*store).await, started(&*store).await];
    let over = started(&*store).await;
    for id in [paused_one, others[0], others[1], over] {
        cancel(&store, id, NOW + 1).await;
    }
    end(&store, over, EndIf::NotOver).await;
    let mut expected = vec![paused_one, others[0], others[1]];
    expected.sort();
    expected.reverse();
    assert_eq!(with(&store, Status::Cancelling).await, expected);
    assert_eq!(with(&store, Status::Running).await, [running]);
    assert!(with(&store, Status::Paused).await.is_empty());
    assert_eq!(with(&store, Status::Cancelled).await, [over]);
    for limit in 1..4 {
        let mut pages = Vec::new();
        loop {
            let query = ListQuery {
                owner: Some(None),
                limit: Some(limit),
                before: pages.last().copied(),
                ..ListQuery::default()
            };
            let page = list(&store, &query.with_status(Status::Cancelling)).await;
            if page.is_empty() {
                break;
            }
            pages.extend(page.into_iter().map(|row| row.id));
        }
        assert_eq!(pages, expected, "{limit} on a page");
    }
    // Those that ask and are cancelled are found by what the row says, too.
    let query = ListQuery {
        asks: Some(true),
        status: Some(Status::Paused),
        cancelling: Some(true),
        ..ListQuery::default()
    };
    assert_eq!(list(&store, &query).await.len(), 1);
    assert!(store.delete(others[0]).await.unwrap());
    expected.retain(|id| *id != others[0]);
    assert_eq!(with(&store, Status::Cancelling).await, expected);
}

/// An execution that waits for its cancellation is due from then on, and one that does not wait for
/// it stays paused.
pub async fn resumes_what_waits_for_it(store: Stored) {
    let waits = async |names: &[&str]| {
        let (id, fence) = claimed(&store).await;
        let pauses = Append {
            status: Some(Status::Paused),
            awaited: names.iter().map(|name| (*name).to_owned()).collect(),
            release: true,
            ..append(records(1..2))
        };
        store.append(id, fence, pauses).await.unwrap();
        id
    };
    let (id, other) = (waits(&["paid", CANCEL]).await, waits(&["paid"]).await);
    cancel(&store, id, NOW + 2).await;
    cancel(&store, other, NOW + 2).await;
    assert_eq!(first_due(&store, NOW + 2, usize::MAX).await, [id]);
}

/// An execution that is created with the time of a cancellation has it.
pub async fn is_kept_from_the_beginning(store: Stored) {
    let given = Row {
        cancelled_ms: Some(NOW),
        ..row(new_id())
    };
    let id = given.id;
    let created = store.create(given, records(0..1), Vec::new(), None);
    created.await.unwrap();
    assert_eq!(stored(&store, id).await.cancelled_ms, Some(NOW));
    assert_eq!(with(&store, Status::Cancelling).await, [id]);
}

/// No row has the status itself.
pub async fn is_no_status_of_a_row(store: Stored) {
    let given = Row {
        status: Status::Cancelling,
        ..row(new_id())
    };
    let id = given.id;
    let created = store.create(given, records(0..1), Vec::new(), None).await;
    assert!(matches!(created, Err(StoreError::Other(_))), "{created:?}");
    assert_eq!(store.execution(id).await.unwrap(), None);
    let (id, fence) = claimed(&store).await;
    let before = everything(&store, id).await;
    let write = Append {
        status: Some(Status::Cancelling),
        ..append(records(1..2))
    };
    let written = store.append(id, fence, write).await;
    assert!(matches!(written, Err(StoreError::Other(_))), "{written:?}");
    let last = record(0, RecordKind::RunCancelled);
    let ended = store.end(id, Status::Cancelling, "", last, EndIf::NotOver);
    assert!(ended.await.is_err());
    assert_eq!(everything(&store, id).await, before);
}

/// Only a queued execution ends under the condition that it is one.
pub async fn ends_what_has_not_begun_only(store: Stored) {
    for status in [Status::Running, Status::Paused] {
        let given = Row {
            status,
            ..row(new_id())
        };
        let id = given.id;
        let created = store.create(given, records(0..1), Vec::new(), None);
        created.await.unwrap();
        let before = everything(&store, id).await;
        assert_eq!(end(&store, id, EndIf::Queued).await.status, status);
        assert_eq!(everything(&store, id).await, before);
    }
    let given = Row {
        status: Status::Queued,
        ..row(new_id())
    };
    let id = given.id;
    let created = store.create(given, records(0..1), Vec::new(), None);
    created.await.unwrap();
    let ended = end(&store, id, EndIf::Queued).await;
    assert_eq!(ended.status, Status::Cancelled);
    assert_eq!(stored(&store, id).await, ended);
    let before = everything(&store, id).await;
    assert_eq!(end(&store, id, EndIf::Queued).await, ended);
    assert_eq!(everything(&store, id).await, before);
}
