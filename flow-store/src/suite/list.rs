use std::collections::BTreeSet;

use uuid::Uuid;

use super::fixtures::*;
use crate::{Append, ExecutionId, ListQuery, PauseState, Row, Settlement, Status};

async fn ids(store: &Stored, query: ListQuery) -> Vec<ExecutionId> {
    let rows = list(store, &query).await;
    rows.into_iter().map(|row| row.id).collect()
}

/// Creates executions, and returns their ids, newest first.
async fn make(store: &Stored, rows: Vec<Row>) -> Vec<ExecutionId> {
    let mut ids: Vec<ExecutionId> = rows.iter().map(|row| row.id).collect();
    ids.sort();
    ids.reverse();
    for row in rows {
        store
            .create(row, records(0..1), Vec::new(), None)
            .await
            .unwrap();
    }
    ids
}

/// The newest come first and complete, whatever the order in which they were stored.
pub async fn has_the_newest_first(store: Stored) {
    assert!(ids(&store, ListQuery::default()).await.is_empty());
    let new = new_ids(5);
    let shuffled = [2, 0, 4, 1, 3].map(|place| row(new[place]));
    let expected = make(&store, shuffled.to_vec()).await;
    let rows = list(&store, &ListQuery::default()).await;
    for (row, id) in rows.iter().zip(&expected) {
        assert_eq!(*row, stored(&store, *id).await);
    }
    assert_eq!(ids(&store, ListQuery::default()).await, expected);
}

/// At most as many are returned as requested.
pub async fn is_limited(store: Stored) {
    let expected = make(&store, new_ids(5).into_iter().map(row).collect()).await;
    for limit in [0, 1, 4, 5, 6, usize::MAX] {
        let query = ListQuery {
            limit: Some(limit),
            ..ListQuery::default()
        };
        assert_eq!(ids(&store, query).await, expected[..limit.min(5)]);
    }
}

/// Page by page, every execution is returned once, even if others are started in between.
pub async fn goes_on_from_page_to_page(store: Stored) {
    let expected = make(&store, new_ids(7).into_iter().map(row).collect()).await;
    let mut listed = Vec::new();
    loop {
        let query = ListQuery {
            flow: Some("orders".to_owned()),
            before: listed.last().copied(),
            limit: Some(3),
            ..ListQuery::default()
        };
        let page = ids(&store, query).await;
        if page.is_empty() {
            break;
        }
        listed.extend(page);
        started(&store).await;
    }
    assert_eq!(listed, expected);
}

/// An id is a place among the others, even if no execution has it.
pub async fn goes_on_below_an_id_that_it_does_not_have(store: Stored) {
    let expected = make(&store, new_ids(3).into_iter().map(row).collect()).await;
    let next_to = |id: ExecutionId| Uuid::from_u128(id.as_uuid().as_u128() + 1);
    for (before, place) in [
        (Uuid::max(), 0),
        (next_to(expected[0]), 0),
        (next_to(expected[1]), 1),
        (next_to(expected[2]), 2),
        (Uuid::nil(), 3),
    ] {
        let query = ListQuery {
            before: Some(before.into()),
            limit: Some(2),
            ..ListQuery::default()
        };
        let left = expected[place..].iter().take(2);
        assert!(ids(&store, query).await.iter().eq(left), "{before}");
    }
}

/// Each part of a query excludes what does not match.
pub async fn filters_by_each_part(store: Stored) {
    let new = new_ids(4);
    let owned = |place: usize, owner: Option<&str>| Row {
        owner: owner.map(str::to_owned),
        created_ms: NOW + place as u64,
        updated_ms: NOW + 10 * place as u64,
        ..row(new[place])
    };
    let mut rows = vec![
        owned(0, None),
        owned(1, Some("ana")),
        owned(2, Some("ben")),
        owned(3, Some("ana")),
    ];
    rows[1].flow = "returns".to_owned();
    rows[2].status = Status::Completed;
    rows[3].copied_from = Some(new[1]);
    make(&store, rows).await;

    let all = ListQuery::default;
    let flow = |name: &str| ListQuery {
        flow: Some(name.to_owned()),
        ..all()
    };
    assert_eq!(ids(&store, flow("orders")).await, [new[3], new[2], new[0]]);
    assert_eq!(ids(&store, flow("returns")).await, [new[1]]);
    assert!(ids(&store, flow("order")).await.is_empty());

    let status = |status| ListQuery {
        status: Some(status),
        ..all()
    };
    assert_eq!(ids(&store, status(Status::Completed)).await, [new[2]]);
    let running = ids(&store, status(Status::Running)).await;
    assert_eq!(running, [new[3], new[1], new[0]]);
    assert!(ids(&store, status(Status::Paused)).await.is_empty());

    let owner = |owner: Option<&str>| ListQuery {
        owner: Some(owner.map(str::to_owned)),
        ..all()
    };
    assert_eq!(ids(&store, owner(Some("ana"))).await, [new[3], new[1]]);
    assert_eq!(ids(&store, owner(None)).await, [new[0]]);
    assert!(ids(&store, owner(Some("eve"))).await.is_empty());

    let created_before = ListQuery {
        created_before_ms: Some(NOW + 2),
        ..all()
    };
    assert_eq!(ids(&store, created_before).await, [new[1], new[0]]);
    let created_from = ListQuery {
        created_from_ms: Some(NOW + 2),
        ..all()
    };
    assert_eq!(ids(&store, created_from).await, [new[3], new[2]]);
    let copied_from = |id| ListQuery {
        copied_from: Some(id),
        ..all()
    };
    assert_eq!(ids(&store, copied_from(new[1])).await, [new[3]]);
    assert!(ids(&store, copied_from(new[3])).await.is_empty());
    let updated_before = ListQuery {
        updated_before_ms: Some(NOW + 10),
        ..all()
    };
    assert_eq!(ids(&store, updated_before).await, [new[0]]);
    let before = ListQuery {
        before: Some(new[2]),
        ..all()
    };
    assert_eq!(ids(&store, before).await, [new[1], new[0]]);
}

/// Only executions that match all parts of the query are returned. The status is the current one.
pub async fn filters_by_all_parts_together(store: Stored) {
    let new = new_ids(6);
    let rows = new.iter().zip(0..).map(|(id, place)| Row {
        owner: Some("ana".to_owned()),
        created_ms: NOW + place,
        ..row(*id)
    });
    let mut rows: Vec<Row> = rows.collect();
    rows[1].flow = "returns".to_owned();
    rows[2].owner = None;
    make(&store, rows).await;
    for id in &new[..5] {
        let fence = claim(&store, *id).await;
        let pause = Append {
            status: Some(Status::Paused),
            ..append(records(1..2))
        };
        store.append(*id, fence, pause).await.unwrap();
    }
    let query = ListQuery {
        cancelling: Some(false),
        flow: Some("orders".to_owned()),
        status: Some(Status::Paused),
        owner: Some(Some("ana".to_owned())),
        created_from_ms: Some(NOW),
        created_before_ms: Some(NOW + 4),
        updated_before_ms: Some(NOW + 2),
        copied_from: None,
        halted: Some(false),
        asks: Some(false),
        before: Some(new[5]),
        limit: Some(9),
    };
    assert_eq!(ids(&store, query.clone()).await, [new[3], new[0]]);
    let too_early = ListQuery {
        updated_before_ms: Some(NOW + 1),
        ..query
    };
    assert!(ids(&store, too_early).await.is_empty());
}

/// A question counts until it is settled or closed, even if its execution has continued.
pub async fn finds_those_that_ask(store: Stored) {
    let none = paused(&store, |_| Vec::new()).await;
    let one = paused(&store, |id| vec![question(id)]).await;
    let two = paused(&store, |id| vec![question(id), question(id)]).await;
    let expired = paused(&store, |id| vec![question(id)]).await;
    let withdrawn = paused(&store, |id| vec![question(id)]).await;
    let over = paused(&store, |id| vec![question(id)]).await;
    let everyone = BTreeSet::from([none, one, two, expired, withdrawn, over]);
    let ask = async |expected: &[ExecutionId]| {
        let expected: BTreeSet<_> = expected.iter().copied().collect();
        for (asks, expected) in [
            (None, everyone.clone()),
            (Some(true), expected.clone()),
            (Some(false), &everyone - &expected),
        ] {
            let query = ListQuery {
                asks,
                ..ListQuery::default()
            };
            let found: BTreeSet<_> = ids(&store, query).await.into_iter().collect();
            assert_eq!(found, expected, "{asks:?}");
        }
    };
    ask(&[one, two, expired, withdrawn, over]).await;

    let answer = || Settlement::Answer("1".to_owned());
    let settle = async |id: ExecutionId, settlement: Settlement| {
        let asked = store.pauses(id).await.unwrap();
        let open = asked.iter().find(|asked| asked.state == PauseState::Open);
        let settled = store.settle(open.unwrap().token, settlement, NOW + 50);
        settled.await.unwrap();
    };
    settle(one, answer()).await;
    settle(two, answer()).await;
    settle(expired, Settlement::TimedOut).await;
    let fence = claim(&store, withdrawn).await;
    let close = Append {
        closed: vec![store.pauses(withdrawn).await.unwrap()[0].token],
        ..append(Vec::new())
    };
    store.append(withdrawn, fence, close).await.unwrap();
    let fence = claim(&store, over).await;
    let end = Append {
        status: Some(Status::Failed),
        ..append(Vec::new())
    };
    store.append(over, fence, end).await.unwrap();
    ask(&[two]).await;

    settle(two, answer()).await;
    ask(&[]).await;
}

/// An owner with an empty name differs from no owner.
pub async fn tells_no_owner_from_an_empty_one(store: Stored) {
    let new = new_ids(2);
    let empty = Row {
        owner: Some(String::new()),
        ..row(new[1])
    };
    make(&store, vec![row(new[0]), empty]).await;
    let owner = |owner| ListQuery {
        owner: Some(owner),
        ..ListQuery::default()
    };
    assert_eq!(ids(&store, owner(None)).await, [new[0]]);
    assert_eq!(ids(&store, owner(Some(String::new()))).await, [new[1]]);
    assert_eq!(stored(&store, new[1]).await.owner.as_deref(), Some(""));
}
