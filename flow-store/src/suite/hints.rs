//! The cases for hints of stores: see [`Store::changes`](crate::Store::changes).

use std::time::Duration;

use tokio::time::timeout;
use uuid::Uuid;

use super::fixtures::*;
use crate::{
    Append, Change, Changes, Claim, Concurrency, EndIf, RecordKind, Row, Settlement, Status, Store,
};

/// The time within which every hint must arrive.
const PATIENCE: Duration = Duration::from_secs(60);

/// Subscribes to a store's hints, and returns once they are live.
pub async fn listening(store: &dyn Store) -> Box<dyn Changes> {
    let mut changes = store.changes().expect("it listens");
    until(&mut changes, |it| it.is_live && it.records && it.work).await;
    changes
}

/// Waits until a hint fulfils the condition.
pub async fn until(changes: &mut Box<dyn Changes>, is_it: impl Fn(Change) -> bool) {
    loop {
        let change = timeout(PATIENCE, changes.next()).await;
        if is_it(change.expect("a change is told of")) {
            return;
        }
    }
}

/// Checks that no new hints arrive.
pub async fn is_quiet(changes: &mut Box<dyn Changes>) {
    // Many times the time for which hints are gathered.
    while let Ok(change) = timeout(Duration::from_millis(500), changes.next()).await {
        assert!(change.is_live && !change.work, "{change:?}");
    }
}

/// Waits for the hints of earlier writes.
pub async fn hear_of_all(changes: &mut Box<dyn Changes>) {
    while timeout(Duration::from_millis(500), changes.next())
        .await
        .is_ok()
    {}
}

/// Each write of one store is announced to another store on the same database.
pub async fn each_write_is_told(writer: &Stored, reader: &Stored) {
    let mut told = listening(&**reader).await;
    records_are(writer, &mut told).await;
    what_can_go_on_is(writer, &mut told).await;
    what_can_begin_is(writer, &mut told).await;
    if writer.transactions().is_some() {
        let (id, fence) = claimed(writer).await;
        hear_of_all(&mut told).await;
        let begun = writer.begin().await.unwrap();
        begun
            .append(id, fence, append(records(1..2)))
            .await
            .unwrap();
        until(&mut told, |it| it.records).await;
    }
}

/// An execution that can be claimed, a claim, and records of its holder.
async fn records_are(writer: &Stored, told: &mut Box<dyn Changes>) {
    let (id, fence) = claimed(writer).await;
    until(told, |it| it.records && it.work).await;
    writer
        .append(id, fence, append(records(1..2)))
        .await
        .unwrap();
    until(told, |it| it.records).await;
    is_quiet(told).await;
}

/// A question, its answer, a released execution, and a signal.
async fn what_can_go_on_is(writer: &Stored, told: &mut Box<dyn Changes>) {
    let (id, fence) = claimed(writer).await;
    hear_of_all(told).await;
    let asked = question(id);
    let ask = Append {
        opened: vec![asked.clone()],
        status: Some(Status::Paused),
        release: true,
        ..append(records(1..2))
    };
    writer.append(id, fence, ask).await.unwrap();
    is_quiet(told).await;
    let answer = Settlement::Answer("true".to_owned());
    writer.settle(asked.token, answer, 1).await.unwrap();
    until(told, |it| it.work).await;
    let claim = writer.claim(id, Uuid::new_v4(), NOW, NOW + LEASE).await;
    let fence = claim.unwrap().expect("it is free").fence;
    let give_up = Append {
        release: true,
        ..append(Vec::new())
    };
    writer.append(id, fence, give_up).await.unwrap();
    until(told, |it| it.work && !it.records).await;
    let (id, fence) = claimed(writer).await;
    let wait = Append {
        status: Some(Status::Paused),
        awaited: vec!["paid".to_owned()],
        release: true,
        ..append(Vec::new())
    };
    writer.append(id, fence, wait).await.unwrap();
    hear_of_all(told).await;
    writer.signal(id, signal("paid")).await.unwrap();
    until(told, |it| it.work).await;
}

/// A queued execution, and the ends of two that have a key.
async fn what_can_begin_is(writer: &Stored, told: &mut Box<dyn Changes>) {
    let queued = Row {
        status: Status::Queued,
        ..row(new_id())
    };
    let create = writer.create(queued, Vec::new(), Vec::new(), None);
    create.await.unwrap();
    until(told, |it| it.work).await;
    let keyed = [new_id(), new_id()];
    for id in keyed {
        let row = Row {
            concurrency: Some(Concurrency {
                key: "ann".to_owned(),
                at_most: 1,
            }),
            ..row(id)
        };
        let claim = Claim::new(Uuid::new_v4(), NOW, NOW + LEASE);
        let create = writer.create(row, Vec::new(), Vec::new(), Some(claim));
        create.await.unwrap();
    }
    is_quiet(told).await;
    let end = Append {
        status: Some(Status::Completed),
        ..append(records(0..1))
    };
    writer.append(keyed[0], 1, end).await.unwrap();
    until(told, |it| it.work).await;
    let last = record(0, RecordKind::RunCancelled);
    let ended = writer.end(keyed[1], Status::Cancelled, "", last, EndIf::NotOver);
    ended.await.unwrap();
    until(told, |it| it.work).await;
}
