use super::fixtures::*;
use crate::{Append, Created, PauseRow, PauseState, Row, Settlement, Status, StoreError};

fn answer(json: &str) -> Settlement {
    Settlement::Answer(json.to_owned())
}

/// The questions of an execution are returned in the order asked, with settled and without closed
/// ones.
pub async fn are_those_not_closed_in_the_order_asked(store: Stored) {
    let other = paused(&store, |id| vec![question(id)]).await;
    let id = paused(&store, |id| (0..4).map(|_| question(id)).collect()).await;
    let mut asked = store.pauses(id).await.unwrap();
    let fence = claim(&store, id).await;
    store
        .settle(asked[0].token, answer("1"), NOW)
        .await
        .unwrap();
    store
        .settle(asked[3].token, Settlement::TimedOut, NOW)
        .await
        .unwrap();
    let more = question(id);
    let write = Append {
        closed: vec![asked[1].token],
        opened: vec![more.clone()],
        ..append(Vec::new())
    };
    store.append(id, fence, write).await.unwrap();
    asked.push(more);
    asked[0].state = PauseState::Answered("1".to_owned());
    asked[3].state = PauseState::TimedOut;
    asked.remove(1);
    assert_eq!(store.pauses(id).await.unwrap(), asked);
    assert_eq!(store.pauses(other).await.unwrap().len(), 1);
}

/// Every part of a question is read back, in every state.
pub async fn keep_every_part(store: Stored) {
    let (id, fence) = claimed(&store).await;
    let states = [
        PauseState::Open,
        PauseState::Answered("{\"yes\":true}".to_owned()),
        PauseState::TimedOut,
        PauseState::Used,
        PauseState::Expired,
        PauseState::Withdrawn,
    ];
    let opened = states.map(|state| PauseRow {
        path: "orders.review[3]".to_owned(),
        step: "orders~1.review#2[3]".to_owned(),
        prompt: "Which?".to_owned(),
        expected: "Vec<Choice>".to_owned(),
        schema: Some("{\"type\":\"array\"}".to_owned()),
        created_ms: NOW + 4,
        expires_ms: Some(NOW + 5),
        state,
        ..question(id)
    });
    let write = Append {
        opened: opened.to_vec(),
        ..append(Vec::new())
    };
    store.append(id, fence, write).await.unwrap();
    assert_eq!(store.pauses(id).await.unwrap(), opened[..3]);
    for pause in opened {
        let found = store.pause(pause.token).await.unwrap();
        assert_eq!(found, Some(pause));
    }
}

/// The first settlement counts, and the second caller gets it. The execution's time is that of the
/// first.
pub async fn are_settled_once(store: Stored) {
    let id = paused(&store, |id| vec![question(id)]).await;
    let asked = store.pauses(id).await.unwrap().remove(0);
    let before = store.settle(asked.token, answer("1"), NOW + 50).await;
    assert_eq!(before.unwrap(), asked);
    let row = stored(&store, id).await;
    assert_eq!((row.updated_ms, row.status), (NOW + 50, Status::Paused));
    let answered = PauseRow {
        state: PauseState::Answered("1".to_owned()),
        ..asked.clone()
    };
    for settlement in [answer("2"), Settlement::TimedOut] {
        let before = store.settle(asked.token, settlement, NOW + 60).await;
        assert_eq!(before.unwrap(), answered);
    }
    let found = store.pause(asked.token).await.unwrap();
    assert_eq!(found, Some(answered));
    assert_eq!(stored(&store, id).await, row);
}

/// If 20 tasks settle a question at once, exactly one succeeds, and its answer is stored.
pub async fn are_settled_by_one_of_many(store: Stored) {
    let id = paused(&store, |id| vec![question(id)]).await;
    let token = store.pauses(id).await.unwrap()[0].token;
    let settled = at_once(20, |task| {
        let store = store.clone();
        async move {
            let before = store.settle(token, answer(&task.to_string()), NOW).await;
            (task, before.unwrap().state)
        }
    })
    .await;
    let won: Vec<_> = settled
        .iter()
        .filter(|(_, before)| *before == PauseState::Open)
        .collect();
    assert_eq!(won.len(), 1);
    let kept = PauseState::Answered(won[0].0.to_string());
    assert_eq!(state(&store, token).await, kept);
    assert_eq!(settled.iter().filter(|(_, it)| *it == kept).count(), 19);
}

/// A question can be settled as having had no answer in time.
pub async fn time_out(store: Stored) {
    let id = paused(&store, |id| vec![expiring(id, NOW + 5)]).await;
    let token = store.pauses(id).await.unwrap()[0].token;
    let before = store.settle(token, Settlement::TimedOut, NOW + 5).await;
    assert_eq!(before.unwrap().state, PauseState::Open);
    assert_eq!(state(&store, token).await, PauseState::TimedOut);
}

/// A closed question stays closed.
pub async fn are_not_settled_when_closed(store: Stored) {
    let id = paused(&store, |id| vec![question(id)]).await;
    let token = store.pauses(id).await.unwrap()[0].token;
    let fence = claim(&store, id).await;
    let close = Append {
        closed: vec![token],
        ..append(Vec::new())
    };
    store.append(id, fence, close).await.unwrap();
    let row = stored(&store, id).await;
    let before = store.settle(token, answer("1"), NOW + 50).await.unwrap();
    assert_eq!(before.state, PauseState::Withdrawn);
    assert_eq!(state(&store, token).await, PauseState::Withdrawn);
    assert_eq!(stored(&store, id).await, row);
}

/// An execution that is over when it is created, such as a copy, has no open questions.
pub async fn are_closed_when_over_from_the_start(store: Stored) {
    for status in [Status::Completed, Status::Failed, Status::Cancelled] {
        let over = Row {
            status,
            ..row(new_id())
        };
        let id = over.id;
        let answered = PauseRow {
            state: PauseState::Answered("1".to_owned()),
            ..question(id)
        };
        let asked = [expiring(id, NOW + 5), answered];
        let created = store.create(over, records(0..1), asked.to_vec(), None);
        assert_eq!(created.await.unwrap(), Created::New);
        assert!(store.pauses(id).await.unwrap().is_empty(), "{status}");
        let row = stored(&store, id).await;
        assert_eq!(row.wake_ms, None, "{status}");
        for (pause, closed) in asked.iter().zip([PauseState::Withdrawn, PauseState::Used]) {
            let before = store.settle(pause.token, answer("2"), NOW + 50).await;
            assert_eq!(before.unwrap().state, closed, "{status}");
            assert_eq!(state(&store, pause.token).await, closed, "{status}");
        }
        assert_eq!(stored(&store, id).await, row);
    }
}

/// A question of an execution that is over is closed, so it cannot be settled.
pub async fn are_not_settled_when_over(store: Stored) {
    let id = paused(&store, |id| vec![question(id)]).await;
    let token = store.pauses(id).await.unwrap()[0].token;
    let fence = claim(&store, id).await;
    let over = Append {
        status: Some(Status::Failed),
        ..append(Vec::new())
    };
    store.append(id, fence, over).await.unwrap();
    let before = store.settle(token, answer("1"), NOW + 50).await.unwrap();
    assert_eq!(before.state, PauseState::Withdrawn);
    assert_eq!(state(&store, token).await, PauseState::Withdrawn);
}

/// A token that was never issued is unknown.
pub async fn are_unknown_if_never_asked(store: Stored) {
    paused(&store, |id| vec![question(id)]).await;
    let token = new_token();
    assert_eq!(store.pause(token).await.unwrap(), None);
    let settled = store.settle(token, answer("1"), NOW).await;
    assert!(
        matches!(settled, Err(StoreError::UnknownToken(of)) if of == token),
        "{settled:?}"
    );
}

/// The row has the first expiry of its open questions. Settled and closed questions do not count.
pub async fn change_when_the_first_one_expires(store: Stored) {
    let times = [NOW + 30, NOW + 10, NOW + 20];
    let id = paused(&store, |id| {
        let mut asked = times.map(|at| expiring(id, at)).to_vec();
        asked.push(question(id));
        asked
    })
    .await;
    let asked = store.pauses(id).await.unwrap();
    let wakes = async || stored(&store, id).await.wake_ms;
    assert_eq!(wakes().await, Some(NOW + 10));
    store
        .settle(asked[1].token, answer("1"), NOW)
        .await
        .unwrap();
    assert_eq!(wakes().await, Some(NOW + 20));
    let fence = claim(&store, id).await;
    let close = |token| Append {
        closed: vec![token],
        ..append(Vec::new())
    };
    store
        .append(id, fence, close(asked[2].token))
        .await
        .unwrap();
    assert_eq!(wakes().await, Some(NOW + 30));
    store
        .append(id, fence, close(asked[0].token))
        .await
        .unwrap();
    assert_eq!(wakes().await, None);
}
