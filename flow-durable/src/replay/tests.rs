//! In which order records are used, and what they wait for.

use super::*;

fn record(seq: u64, kind: RecordKind, step: &str) -> Record {
    Record {
        seq,
        at_ms: 0,
        kind,
        path: step.to_owned(),
        step: step.to_owned(),
        visit: 1,
        item: None,
        attempt: 0,
        payload: format!("{seq}"),
    }
}

fn kept(seq: u64, kind: RecordKind) -> Kept {
    let text = format!("{seq}");
    Kept { seq, kind, text }
}

fn place(step: &str) -> Place {
    Place {
        path: step.to_owned(),
        step: step.to_owned(),
        visit: 1,
        item: None,
    }
}

#[test]
fn outcomes_are_handed_out_in_the_order_recorded() {
    let records = vec![
        record(3, RecordKind::Outcome, "b"),
        record(7, RecordKind::NodeFailed, "a"),
    ];
    let mut replay = Replay::new(records);
    let waker = Waker::noop();
    assert_eq!(replay.outcome(&place("a")), Some(7));
    assert!(!replay.is_turn(7, waker));
    assert!(replay.is_turn(3, waker));
    assert_eq!(
        replay.take(&place("b")),
        Some(Outcome::Value(kept(3, RecordKind::Outcome)))
    );
    assert!(replay.is_turn(7, waker));
    assert_eq!(
        replay.take(&place("a")),
        Some(Outcome::Failed(kept(7, RecordKind::NodeFailed)))
    );
    assert!(replay.is_over());
}

#[test]
fn an_outcome_waits_for_the_nodes_that_were_reached_before_it() {
    let mut replay = Replay::new(vec![
        record(1, RecordKind::NodeStarted, "a"),
        record(2, RecordKind::NodeStarted, "b"),
        record(3, RecordKind::NodeFailed, "a"),
        record(4, RecordKind::NodeStarted, "c"),
    ]);
    let waker = Waker::noop();
    assert_eq!(replay.start(&place("a")), Some(0));
    assert!(!replay.is_turn(3, waker), "`b` was reached before");
    assert_eq!(replay.start(&place("b")), Some(0));
    assert!(replay.is_turn(3, waker));
    replay.advance();
    assert!(replay.is_over(), "nothing waits for `c`");
}

/// Another version of the flow reaches `f.b`, which the failure of `f.a` drops.
#[test]
fn what_the_last_outcome_drops_is_not_added() {
    let mut replay = Replay::new(vec![record(1, RecordKind::NodeFailed, "f.a")]);
    replay.run_ahead(record(2, RecordKind::NodeStarted, "f.b"));
    replay.run_ahead(record(3, RecordKind::NodeStarted, "g"));
    replay.advance();
    assert!(replay.is_over());
    replay.failed("f");
    let added = replay.take_ahead();
    assert_eq!(
        added.iter().map(|record| &record.step).collect::<Vec<_>>(),
        ["g"]
    );
}

/// Another version of the flow had begun it before a snapshot.
#[test]
fn a_node_that_began_twice_is_waited_for_once() {
    let mut replay = Replay::new(vec![
        record(1, RecordKind::NodeStarted, "b"),
        record(2, RecordKind::NodeStarted, "a"),
        record(3, RecordKind::Outcome, "a"),
        record(4, RecordKind::NodeStarted, "b"),
        record(5, RecordKind::Outcome, "b"),
    ]);
    replay.start(&place("a"));
    assert!(replay.is_turn(3, Waker::noop()), "`b` comes later");
    replay.advance();
    assert!(!replay.is_turn(5, Waker::noop()));
    replay.start(&place("b"));
    assert!(replay.is_turn(5, Waker::noop()));
}

#[test]
fn nodes_that_are_not_reached_again_are_skipped_when_nothing_moves() {
    let mut replay = Replay::new(vec![
        record(1, RecordKind::NodeStarted, "a"),
        record(2, RecordKind::NodeStarted, "b"),
        record(3, RecordKind::Outcome, "b"),
    ]);
    replay.start(&place("b"));
    assert!(!replay.is_turn(3, Waker::noop()));
    assert!(replay.skip_starts());
    assert!(!replay.skip_starts(), "there are no more");
    assert!(replay.is_turn(3, Waker::noop()));
}
