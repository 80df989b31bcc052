use super::fixtures::*;
use crate::{Record, RecordKind};

/// Records are returned in order, from a number on, and at most as many as requested.
pub async fn come_in_order_from_a_number_on(store: Stored) {
    let (id, fence) = claimed(&store).await;
    let (other, other_fence) = claimed(&store).await;
    for seq in 1..6 {
        let one = append(records(seq..seq + 1));
        store.append(id, fence, one.clone()).await.unwrap();
        store.append(other, other_fence, one).await.unwrap();
    }
    let read = async |from, limit| store.records(id, from, limit).await.unwrap();
    assert_eq!(read(0, usize::MAX).await, records(0..6));
    assert_eq!(read(2, 3).await, records(2..5));
    assert_eq!(read(5, 3).await, records(5..6));
    assert!(read(6, 3).await.is_empty());
    assert!(read(u64::MAX, 3).await.is_empty());
    assert!(read(0, 0).await.is_empty());
}

/// Every kind, and every part of a record, is read back.
pub async fn keep_every_kind_and_part(store: Stored) {
    let (id, fence) = claimed(&store).await;
    let all: Vec<Record> = RecordKind::ALL
        .into_iter()
        .zip(1..)
        .map(|(kind, seq)| Record {
            seq,
            at_ms: NOW + 3 * seq,
            kind,
            path: format!("orders.items[{seq}]"),
            step: format!("orders.items#2[{seq}]"),
            visit: u32::MAX,
            item: (seq % 2 == 0).then_some(u32::MAX),
            attempt: u32::MAX - 1,
            payload: String::new(),
        })
        .collect();
    store.append(id, fence, append(all.clone())).await.unwrap();
    assert_eq!(store.records(id, 1, 100).await.unwrap(), all);
}

/// Texts are read back unchanged, whatever their characters.
pub async fn keep_any_text(store: Stored) {
    let text = "päth 🦀 \u{0} \u{10ffff} \u{202e} ' \" ; -- \n\r\t \\ % _ é";
    let (id, fence) = claimed(&store).await;
    let mut given = record(1, RecordKind::Outcome);
    given.path = text.to_owned();
    given.payload = text.to_owned();
    let mut asked = question(id);
    asked.prompt = text.to_owned();
    asked.path = text.to_owned();
    asked.expected = text.to_owned();
    asked.schema = Some(text.to_owned());
    let write = crate::Append {
        opened: vec![asked.clone()],
        result: Some(text.to_owned()),
        structure: Some(text.to_owned()),
        ..append(vec![given.clone()])
    };
    store.append(id, fence, write).await.unwrap();
    store.put_structure(text, text).await.unwrap();

    assert_eq!(store.records(id, 1, 10).await.unwrap(), [given]);
    assert_eq!(store.pauses(id).await.unwrap(), [asked]);
    let written = stored(&store, id).await;
    assert_eq!(written.result.as_deref(), Some(text));
    assert_eq!(written.structure, text);
    let structure = store.structure(text).await.unwrap();
    assert_eq!(structure.as_deref(), Some(text));

    let named = new_id();
    let given = crate::Row {
        flow: text.to_owned(),
        owner: Some(text.to_owned()),
        idempotency_key: Some(text.to_owned()),
        options: text.to_owned(),
        ..row(named)
    };
    let created = store
        .create(given.clone(), Vec::new(), Vec::new(), None)
        .await;
    assert!(created.is_ok());
    assert_eq!(stored(&store, named).await, given);
    let query = crate::ListQuery {
        flow: Some(text.to_owned()),
        owner: Some(Some(text.to_owned())),
        ..Default::default()
    };
    assert_eq!(list(&store, &query).await, [given]);
}

/// Payloads, answers and results of a mebibyte are read back completely.
pub async fn keep_a_mebibyte(store: Stored) {
    let large: String = ('a'..='z').cycle().take(1024 * 1024).collect();
    let (id, fence) = claimed(&store).await;
    let asked = question(id);
    let mut given = records(1..4);
    for record in &mut given {
        record.payload.clone_from(&large);
    }
    let write = crate::Append {
        opened: vec![asked.clone()],
        result: Some(large.clone()),
        ..append(given.clone())
    };
    store.append(id, fence, write).await.unwrap();
    let answer = crate::Settlement::Answer(large.clone());
    store.settle(asked.token, answer, NOW).await.unwrap();

    assert!(store.records(id, 1, 10).await.unwrap() == given);
    assert!(log(&store, 1, 10).await[2].record.payload == large);
    assert!(stored(&store, id).await.result.as_ref() == Some(&large));
    let answered = crate::PauseState::Answered(large);
    assert!(state(&store, asked.token).await == answered);
}
