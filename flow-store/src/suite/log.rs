use std::collections::HashMap;

use super::fixtures::*;
use crate::{ExecutionId, Logged, Row};

/// The log has the records of all executions in the order written, with their owners.
pub async fn has_the_records_of_all(store: Stored) {
    assert!(log(&store, 0, 10).await.is_empty());
    let owned = Row {
        owner: Some("ana".to_owned()),
        ..row(new_id())
    };
    let (first, second) = (owned.id, started(&store).await);
    store
        .create(owned, records(0..2), Vec::new(), None)
        .await
        .unwrap();
    let fence = claim(&store, second).await;
    store
        .append(second, fence, append(records(1..2)))
        .await
        .unwrap();

    let logged = log(&store, 0, 10).await;
    let expected = [(second, 0), (first, 0), (first, 1), (second, 1)];
    for (logged, (id, seq)) in logged.iter().zip(expected) {
        let owner = (id == first).then(|| "ana".to_owned());
        assert_eq!((logged.execution, &logged.owner), (id, &owner));
        assert_eq!(logged.record, records(seq..seq + 1)[0]);
    }
    assert_eq!(logged.len(), 4);
    grows(&logged);
}

/// Reading after an offset returns the records after it, at most as many as requested.
pub async fn goes_on_after_an_offset(store: Stored) {
    let id = new_id();
    store
        .create(row(id), records(0..7), Vec::new(), None)
        .await
        .unwrap();
    let whole = log(&store, 0, usize::MAX).await;
    let (mut read, mut after) = (Vec::new(), 0);
    loop {
        let page = log(&store, after, 3).await;
        assert!(page.len() <= 3);
        let Some(last) = page.last() else { break };
        after = last.offset;
        read.extend(page);
    }
    assert_eq!(read, whole);
    assert_eq!(read.len(), 7);
    assert!(log(&store, 0, 0).await.is_empty());
    assert!(log(&store, u64::MAX, 10).await.is_empty());
}

/// The log of one execution has its records and no others, from any offset on.
pub async fn is_that_of_one_execution(store: Stored) {
    let (one, fence) = claimed(&store).await;
    let (other, other_fence) = claimed(&store).await;
    for seq in 1..6 {
        store
            .append(one, fence, append(records(seq..seq + 1)))
            .await
            .unwrap();
        store
            .append(other, other_fence, append(records(seq..seq + 1)))
            .await
            .unwrap();
    }
    let whole = log(&store, 0, usize::MAX).await;
    let of_one: Vec<&Logged> = whole.iter().filter(|it| it.execution == one).collect();
    for after in 0..=whole.len() {
        let after = after.checked_sub(1).map_or(0, |last| whole[last].offset);
        let expected: Vec<&Logged> = of_one
            .iter()
            .filter(|it| it.offset > after)
            .copied()
            .collect();
        for limit in [0, 2, usize::MAX] {
            let expected = &expected[..limit.min(expected.len())];
            let read = log_of(&store, one, after, limit).await;
            assert_eq!(read.iter().collect::<Vec<_>>(), expected);
        }
    }
    assert!(log_of(&store, one, u64::MAX, 10).await.is_empty());
    assert!(log_of(&store, new_id(), 0, 10).await.is_empty());
    assert!(store.delete(one).await.unwrap());
    assert!(log_of(&store, one, 0, 10).await.is_empty());
    assert_eq!(log_of(&store, other, 0, 10).await.len(), 6);
}

/// A reader that continues after the last offset while many tasks write gets every record once, and
/// those of one execution in order.
pub async fn grows_while_many_write(store: Stored) {
    const TASKS: usize = 8;
    const APPENDS: u64 = 20;
    let mut held = Vec::new();
    for _ in 0..TASKS {
        held.push(claimed(&store).await);
    }
    let writing = {
        let store = store.clone();
        tokio::spawn(at_once(TASKS, move |task| {
            let (store, (id, fence)) = (store.clone(), held[task]);
            async move {
                for seq in (1..).step_by(3).take(APPENDS as usize) {
                    let write = append(records(seq..seq + 3));
                    store.append(id, fence, write).await.unwrap();
                }
            }
        }))
    };
    let expected = TASKS * (1 + 3 * APPENDS as usize);
    let (mut read, mut after) = (Vec::<Logged>::new(), 0);
    while read.len() < expected {
        let finished = writing.is_finished();
        let page = log(&store, after, 7).await;
        assert!(
            !(finished && page.is_empty()),
            "{} of {expected} records came",
            read.len()
        );
        after = page.last().map_or(after, |last| last.offset);
        read.extend(page);
        tokio::task::yield_now().await;
    }
    writing.await.unwrap();
    grows(&read);
    assert!(log(&store, after, 1).await.is_empty());
    let mut next: HashMap<ExecutionId, u64> = HashMap::new();
    for logged in read {
        let next = next.entry(logged.execution).or_default();
        assert_eq!(logged.record.seq, *next);
        *next += 1;
    }
}

/// The offset of a removed record is never used again.
pub async fn gives_no_offset_twice(store: Stored) {
    let id = new_id();
    store
        .create(row(id), records(0..3), Vec::new(), None)
        .await
        .unwrap();
    let newest = log(&store, 0, 10).await[2].offset;
    assert!(store.delete(id).await.unwrap());
    let next = started(&store).await;
    let logged = log(&store, newest, 10).await;
    assert_eq!(logged.len(), 1);
    assert_eq!(logged[0].execution, next);
}

/// The last offset is that of the newest record, and reading after it returns nothing.
pub async fn ends_at_the_newest_offset(store: Stored) {
    assert_eq!(store.last_offset().await.unwrap(), 0);
    let (id, fence) = claimed(&store).await;
    store
        .append(id, fence, append(records(1..4)))
        .await
        .unwrap();
    let last = store.last_offset().await.unwrap();
    assert_eq!(log(&store, 0, 10).await[3].offset, last);
    assert!(log(&store, last, 10).await.is_empty());
    store
        .append(id, fence, append(records(4..5)))
        .await
        .unwrap();
    assert!(store.last_offset().await.unwrap() > last);
    assert_eq!(log(&store, last, 10).await[0].record.seq, 4);
}

fn grows(logged: &[Logged]) {
    assert!(logged[0].offset > 0);
    for pair in logged.windows(2) {
        assert!(pair[0].offset < pair[1].offset);
    }
}
