use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use uuid::Uuid;

use super::fixtures::*;
use crate::{
    Append, Claim, Created, EndIf, PauseRow, PauseState, RecordKind, Row, Sent, Settlement, Status,
    StoreError, Take,
};

/// A store behind a connection that can break.
pub trait Line: Send + Sync + 'static {
    /// The store, which judges claims by given times.
    fn store(&self) -> Stored;

    /// Breaks the connection after the store has executed the next call, before its answer.
    fn lose_the_next_answer(&self);

    /// Returns the number of lost answers.
    fn lost(&self) -> usize;
}

/// A line, and the number of answers to lose. The first pass of a case loses none, so that the
/// store sends one-time requests to its server then.
pub struct Losing {
    line: Box<dyn Line>,
    loses: bool,
    asked: AtomicUsize,
}

impl Losing {
    fn store(&self) -> Stored {
        self.line.store()
    }

    fn lose(&self) {
        if self.loses {
            self.line.lose_the_next_answer();
            self.asked.fetch_add(1, Ordering::SeqCst);
        }
    }
}

/// Runs a case on a separate store, first without a loss. `None` skips it.
///
/// # Panics
///
/// The case fails, or fewer or more answers were lost than it asked for.
pub fn test<L: Line, FreshFuture, CaseFuture>(
    fresh: impl FnOnce(PathBuf) -> FreshFuture,
    case: impl Fn(Arc<Losing>) -> CaseFuture,
) where
    FreshFuture: Future<Output = Option<L>>,
    CaseFuture: Future<Output = ()>,
{
    super::run(fresh, async |line| {
        let Some(line) = line else {
            return;
        };
        let line = Arc::new(line);
        for loses in [false, true] {
            let losing = Arc::new(Losing {
                line: Box::new(line.clone()),
                loses,
                asked: AtomicUsize::new(0),
            });
            case(losing.clone()).await;
            assert_eq!(line.lost(), losing.asked.load(Ordering::SeqCst));
            assert_eq!(line.lost() > 0, loses);
        }
    });
}

impl<L: Line> Line for Arc<L> {
    fn store(&self) -> Stored {
        (**self).store()
    }

    fn lose_the_next_answer(&self) {
        (**self).lose_the_next_answer();
    }

    fn lost(&self) -> usize {
        (**self).lost()
    }
}

/// All writes of an execution happen once, and return their results.
pub async fn of_writes_double_nothing(line: Arc<Losing>) {
    let store = line.store();
    let given = Row {
        idempotency_key: Some(Uuid::new_v4().to_string()),
        ..row(new_id())
    };
    let id = given.id;
    let asked = question(id);
    let offset = store.last_offset().await.unwrap();

    line.lose();
    let holder = Uuid::new_v4();
    let claim = Claim::new(holder, NOW, NOW + LEASE);
    let created = store.create(given, records(0..1), Vec::new(), Some(claim));
    assert_eq!(created.await.unwrap(), Created::New);
    for seq in 1..20 {
        line.lose();
        let write = append(records(seq..seq + 1));
        store.append(id, 1, write).await.unwrap();
    }
    line.lose();
    assert_eq!(renewed(&store, holder, NOW + 2 * LEASE).await, [id]);
    line.lose();
    let pause = Append {
        opened: vec![asked.clone()],
        status: Some(Status::Paused),
        release: true,
        ..append(records(20..21))
    };
    store.append(id, 1, pause).await.unwrap();
    line.lose();
    let answer = Settlement::Answer("true".to_owned());
    let settled = store.settle(asked.token, answer, NOW).await.unwrap();
    assert_eq!(settled, asked);
    line.lose();
    let last = record(0, RecordKind::RunCancelled);
    let ended = store.end(id, Status::Cancelled, "", last, EndIf::NotOver);
    assert_eq!(ended.await.unwrap().next_seq, 22);
    line.lose();
    let retried = record(22, RecordKind::RunRetried);
    let reopened = store.reopen(id, Status::Running, retried).await.unwrap();
    assert_eq!((reopened.status, reopened.next_seq), (Status::Running, 23));

    let stored = store.records(id, 0, 99).await.unwrap();
    let seqs: Vec<u64> = stored.iter().map(|it| it.seq).collect();
    assert_eq!(seqs, (0..23).collect::<Vec<_>>());
    assert_eq!(store.log(None, offset, 99).await.unwrap().len(), 23);

    line.lose();
    assert!(store.delete(id).await.unwrap());
    line.lose();
    assert!(!store.delete(id).await.unwrap());
}

/// A claim is given to and released for the caller that asked.
pub async fn of_claims_leave_them_with_who_asked(line: Arc<Losing>) {
    let store = line.store();
    let (id, holder) = (started(&store).await, Uuid::new_v4());
    line.lose();
    let row = store.claim(id, holder, NOW, NOW + LEASE).await.unwrap();
    assert_eq!(row.expect("it was free").fence, 1);
    // Another call of the same holder is refused, even if it arrives twice.
    line.lose();
    let row = store.claim(id, holder, NOW, NOW + LEASE).await.unwrap();
    assert_eq!(row, None);
    let claim = store.claim_of(id).await.unwrap().unwrap();
    line.lose();
    assert!(store.break_claim(id, claim).await.unwrap());
    line.lose();
    let other = Claim::new(Uuid::new_v4(), NOW, NOW + LEASE);
    assert!(!store.break_claim(id, other).await.unwrap());
}

/// A caller that takes from the queue gets exactly what was taken.
pub async fn of_the_queue_take_no_more(line: Arc<Losing>) {
    let store = line.store();
    let mut ids = Vec::new();
    for priority in [0, 3, 2, 1] {
        let queued = Row {
            status: Status::Queued,
            priority,
            ..row(new_id())
        };
        ids.push(queued.id);
        let created = store.create(queued, records(0..1), Vec::new(), None).await;
        assert_eq!(created.unwrap(), Created::New);
    }
    let take = Take {
        flows: [("orders".to_owned(), 9)].into(),
        limit: 2,
        holder: Uuid::new_v4(),
        now_ms: NOW,
        until_ms: NOW + LEASE,
    };
    for expected in [[ids[1], ids[2]], [ids[3], ids[0]]] {
        line.lose();
        let taken = store.take_queued(&take).await.unwrap();
        let taken: Vec<_> = taken.into_iter().map(|row| row.unwrap().id).collect();
        assert_eq!(taken, expected);
    }
    assert_eq!(store.renew(take.holder, NOW).await.unwrap().len(), 4);
}

/// A pause, a change of the status and a write of the time alone happen.
pub async fn of_writes_without_records_do_them_once(line: Arc<Losing>) {
    let store = line.store();
    for status in [None, Some(Status::Paused), Some(Status::Failed)] {
        let (id, fence) = claimed(&store).await;
        let pause = Append {
            status,
            release: true,
            now_ms: NOW + 7,
            ..Append::default()
        };
        line.lose();
        store.append(id, fence, pause.clone()).await.unwrap();
        // A later one is refused, even if it arrives twice.
        line.lose();
        let later = Append {
            now_ms: NOW + 8,
            ..pause
        };
        let late = store.append(id, fence, later).await;
        assert!(matches!(late, Err(StoreError::LeaseLost(_))), "{late:?}");
    }
}

/// A caller that did not settle a question learns so.
pub async fn of_settlements_tell_who_was_first(line: Arc<Losing>) {
    let store = line.store();
    let (id, fence) = claimed(&store).await;
    let asked = question(id);
    let ask = Append {
        opened: vec![asked.clone()],
        ..append(Vec::new())
    };
    store.append(id, fence, ask).await.unwrap();
    let answer = Settlement::Answer("true".to_owned());
    let settled = store.settle(asked.token, answer.clone(), NOW).await;
    assert_eq!(settled.unwrap().state, PauseState::Open);
    line.lose();
    let again = store.settle(asked.token, answer, NOW).await.unwrap();
    let state = PauseState::Answered("true".to_owned());
    assert_eq!(again, PauseRow { state, ..asked });
}

/// A signal is sent once, and its sender learns so, with a key or without. One that repeats it by
/// itself gets what it sent before.
pub async fn of_signals_send_them_once(line: Arc<Losing>) {
    let store = line.store();
    let id = started(&store).await;
    for (number, given) in [(1, keyed("paid", "k")), (2, signal("paid"))] {
        line.lose();
        let sent = store.signal(id, given).await.unwrap();
        assert_eq!(sent, Sent::New(number));
    }
    line.lose();
    let again = store.signal(id, keyed("paid", "k")).await.unwrap();
    let digest = signal("paid").digest;
    assert_eq!(again, Sent::Existing { number: 1, digest });
    let fence = claim(&store, id).await;
    let take = Append {
        taken: vec![1],
        ..append(Vec::new())
    };
    line.lose();
    store.append(id, fence, take.clone()).await.unwrap();
    line.lose();
    let twice = Append {
        now_ms: NOW + 9,
        ..take
    };
    let twice = store.append(id, fence, twice).await;
    assert!(matches!(twice, Err(StoreError::Other(_))), "{twice:?}");
    let left = store.signals(id).await.unwrap();
    assert_eq!(left.iter().map(|it| it.number).collect::<Vec<_>>(), [2]);
}

/// The id of another execution, which this call did not create, is refused.
pub async fn of_an_id_that_is_taken_do_not_make_it_ones_own(line: Arc<Losing>) {
    let store = line.store();
    for idempotency_key in [None, Some(Uuid::new_v4().to_string())] {
        let given = Row {
            idempotency_key,
            ..row(new_id())
        };
        let id = given.id;
        let create = async || {
            let created = store.create(given.clone(), records(0..1), Vec::new(), None);
            created.await
        };
        line.lose();
        assert_eq!(create().await.unwrap(), Created::New);
        line.lose();
        match (create().await, &given.idempotency_key) {
            (Ok(Created::Existing(existing)), Some(_)) => assert_eq!(existing, id),
            (Err(StoreError::Other(error)), None) => {
                assert!(error.to_string().contains("already"), "{error}");
            }
            (created, _) => panic!("{created:?}"),
        }
    }
}

/// A process with an old fence writes nothing.
pub async fn of_late_writes_leave_them_refused(line: Arc<Losing>) {
    let store = line.store();
    let (id, fence) = claimed(&store).await;
    let later = NOW + LEASE;
    let other = store.claim(id, Uuid::new_v4(), later, later + 1).await;
    assert!(other.unwrap().is_some());
    for late in [append(records(1..2)), append(Vec::new())] {
        line.lose();
        let late = store.append(id, fence, late).await;
        assert!(matches!(late, Err(StoreError::LeaseLost(_))), "{late:?}");
    }
    assert_eq!(store.records(id, 0, 9).await.unwrap().len(), 1);
}
