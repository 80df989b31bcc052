//! What the tests store.

use flow_store::{Append, Claim, ExecutionId, JOURNAL_FORMAT, Record, RecordKind, Row, Status};
use uuid::Uuid;

pub(crate) const NOW: u64 = 1_700_000_000_000;

pub(crate) fn row() -> Row {
    Row {
        id: ExecutionId::from(Uuid::now_v7()),
        flow: "orders".to_owned(),
        structure: "structure".to_owned(),
        owner: None,
        idempotency_key: None,
        input_hash: "hash".to_owned(),
        status: Status::Running,
        format: JOURNAL_FORMAT,
        options: "{}".to_owned(),
        created_ms: NOW,
        updated_ms: NOW,
        wake_ms: None,
        next_seq: 0,
        snapshot_seq: None,
        copied_from: None,
        result: None,
        fence: 0,
        priority: 0,
        not_before_ms: None,
        concurrency: None,
    }
}

pub(crate) fn record(seq: u64) -> Record {
    Record {
        seq,
        at_ms: NOW,
        kind: RecordKind::Outcome,
        path: "orders.pack".to_owned(),
        step: format!("orders.pack#{seq}"),
        visit: 1,
        item: None,
        attempt: 0,
        payload: "1".to_owned(),
    }
}

pub(crate) fn append(seq: u64) -> Append {
    Append {
        records: vec![record(seq)],
        now_ms: NOW,
        ..Append::default()
    }
}

pub(crate) fn claim() -> Option<Claim> {
    Some(Claim::new(Uuid::new_v4(), NOW, NOW + 30_000))
}
