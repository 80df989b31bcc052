//! Stores that fail, and records that are damaged: nothing is lost, and what went wrong where is
//! said.

use std::sync::atomic::{AtomicBool, Ordering};

use flow_durable::{
    ExecutionId, RecordKind, RuntimeError, StartOptions, Status, Store, StoreError, StoreFailure,
};

use crate::gates::{Gate, Later, LaterInput, Stops, StopsInput, increase, later, stops};
use crate::stores::{CrashAfter, Damage, Damaged, Faulty, Refusing};
use crate::support::{Shared, minutes, outcomes, pass, runtime, seen, store};
use flow_runtime::prelude::*;

/// An execution that has been stopped at the gate, which is open now.
async fn left(gate: &Gate) -> (Shared, ExecutionId) {
    let store = store();
    let first = runtime(store.clone(), stops(gate, 1));
    let id = first
        .executions()
        .start::<Stops>(StopsInput { number: 1 }, StartOptions::new())
        .await
        .unwrap()
        .id();
    pass(minutes(1)).await;
    first.shut_down().await;
    gate.open();
    (store, id)
}

#[tokio::test(start_paused = true)]
async fn a_damaged_record_is_named() {
    for (seq, damage, path, reason) in [
        (
            2,
            Damage::Payload("\"two\""),
            "stops.increase",
            "the recorded value is not a `u64`: invalid type: string",
        ),
        (
            2,
            Damage::Payload("{"),
            "stops.increase",
            "record 2, `outcome`: EOF while parsing an object",
        ),
        (
            2,
            Damage::Payload("#"),
            "stops.increase",
            "record 2, `outcome`: expected value",
        ),
        (2, Damage::Missing, "stops.increase", "record 2 is missing"),
        (
            0,
            Damage::Payload("{\"num"),
            "stops",
            "record 0, `run_started`: EOF while parsing",
        ),
        (
            0,
            Damage::Payload("{}"),
            "stops",
            "what was stored does not fit: input `number`: ",
        ),
        (0, Damage::Missing, "stops", "its first record is missing"),
        (4, Damage::Missing, "stops", "record 4 is missing"),
    ] {
        let gate = Gate::closed();
        let (store, id) = left(&gate).await;
        let records = store.records(id, 0, usize::MAX).await.unwrap();
        let row = store.execution(id).await.unwrap().unwrap();
        let failing = Faulty::new(&store, Damaged::at(seq, damage.clone()));
        let second = runtime(failing.clone(), stops(&gate, 1));
        second.recover().await.unwrap();
        let error = second
            .executions()
            .get(id)
            .await
            .unwrap()
            .settled()
            .await
            .unwrap_err();
        let text = error.to_string();
        let (execution, at, why) = match error {
            RuntimeError::Unreadable {
                execution,
                path,
                reason,
            } => (execution, path, reason),
            RuntimeError::DamagedRecord {
                execution,
                path,
                seq,
                kind,
                reason,
            } => (execution, path, format!("record {seq}, `{kind}`: {reason}")),
            _ => panic!("{text}"),
        };
        assert_eq!((execution, &*at), (id, path), "{damage:?}: {why}");
        assert!(why.starts_with(reason), "{damage:?}: {why}");
        assert_eq!(gate.runs(), 1, "nothing has run");
        assert_eq!(store.records(id, 0, usize::MAX).await.unwrap(), records);
        let now = store.execution(id).await.unwrap().unwrap();
        assert_eq!(
            (now.status, now.next_seq, now.result),
            (row.status, row.next_seq, row.result)
        );
        let journal = second.executions().get(id).await.unwrap().journal().await;
        if let Damage::Missing = damage {
            let error = journal.unwrap_err().to_string();
            let missing = format!("record {seq} is missing");
            assert!(error.ends_with(&missing), "{error}");
        } else {
            assert!(journal.is_ok());
        }

        failing.fault.mend();
        pass(minutes(1)).await;
        let error = second
            .executions()
            .get(id)
            .await
            .unwrap()
            .settled()
            .await
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            text,
            "it is tried again when that is asked for"
        );
        assert_eq!(second.recover().await.unwrap().resumed, [id]);
        let execution = second
            .executions()
            .get(id)
            .await
            .unwrap()
            .settled()
            .await
            .unwrap();
        assert_eq!(
            execution.output::<Stops>().unwrap().unwrap().passed,
            3,
            "{damage:?}"
        );
    }
}

flow! {
    /// A long wait, and a step after it.
    Waits(number: u64) -> (number: u64) {
        start >> wait(1h) >> increase >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_does_not_say_until_when_is_not_over() {
    for payload in ["", "soon", "-1"] {
        let store = store();
        let first = runtime(store.clone(), Waits::new());
        let input = WaitsInput { number: 1 };
        let started = first
            .executions()
            .start::<Waits>(input, StartOptions::new())
            .await;
        let id = started.unwrap().id();
        pass(minutes(1)).await;
        first.shut_down().await;
        let records = store.records(id, 0, usize::MAX).await.unwrap();
        let wait = records.iter().find(|one| one.kind == RecordKind::Waiting);
        let seq = wait.unwrap().seq;
        let failing = Faulty::new(&store, Damaged::at(seq, Damage::Payload(payload)));
        let second = runtime(failing.clone(), Waits::new());
        second.recover().await.unwrap();
        let error = second
            .executions()
            .get(id)
            .await
            .unwrap()
            .settled()
            .await
            .unwrap_err();
        let RuntimeError::DamagedRecord {
            path,
            seq: number,
            kind,
            ..
        } = &error
        else {
            panic!("{error}")
        };
        assert_eq!(path, "waits.wait");
        assert_eq!((*number, *kind), (seq, RecordKind::Waiting));
        failing.fault.mend();
        assert_eq!(second.recover().await.unwrap().resumed, [id]);
        let execution = second
            .executions()
            .get(id)
            .await
            .unwrap()
            .settled()
            .await
            .unwrap();
        assert_eq!(execution.output::<Waits>().unwrap().unwrap().number, 2);
    }
}

struct FallsBack;

#[node(writes = number)]
impl FallsBack {
    fn exec(&self) -> Result<u64, String> {
        Err("no number".to_owned())
    }

    async fn exec_fallback(&self) -> u64 {
        std::future::pending().await
    }
}

flow! {
    /// A fallback that takes long.
    Falls() -> (number: u64) {
        node falls: FallsBack = FallsBack;
        start >> falls >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn a_failure_without_its_error_does_not_begin_a_fallback() {
    let store = store();
    let first = runtime(store.clone(), Falls::new());
    let started = first
        .executions()
        .start::<Falls>(FallsInput {}, StartOptions::new());
    let id = started.await.unwrap().id();
    pass(minutes(1)).await;
    first.shut_down().await;
    let records = store.records(id, 0, usize::MAX).await.unwrap();
    let failure = records.iter().find(|one| one.kind == RecordKind::GaveUp);
    let seq = failure.unwrap().seq;
    let failing = Faulty::new(&store, Damaged::at(seq, Damage::Payload("no number")));
    let second = runtime(failing, Falls::new());
    second.recover().await.unwrap();
    let error = second
        .executions()
        .get(id)
        .await
        .unwrap()
        .settled()
        .await
        .unwrap_err();
    let reason = "record 3, `gave_up`, is damaged: expected ident";
    assert!(error.to_string().contains(reason), "{error}");
}

/// Why a store fails.
type Reason = fn() -> StoreError;

#[tokio::test(start_paused = true)]
async fn a_store_that_fails_in_the_middle_loses_nothing() {
    let reasons: [(Reason, &str); 2] = [
        (
            || StoreError::Full("0 bytes left".into()),
            "the store has no room left: make some, then `recover`",
        ),
        (
            || StoreError::Locked("busy".into()),
            "the store is locked by another process",
        ),
    ];
    for (reason, message) in reasons {
        for from_path in ["stops.increase", "stops.gated", "stops"] {
            let (store, gate) = (store(), Gate::closed());
            let failing = Faulty::new(
                &store,
                Refusing {
                    refuses: AtomicBool::new(true),
                    from_path,
                    reason,
                },
            );
            let first = runtime(failing.clone(), stops(&gate, 1));
            gate.open();
            let started = first
                .executions()
                .start::<Stops>(StopsInput { number: 1 }, StartOptions::new())
                .await
                .unwrap();
            let error = started.settled().await.unwrap_err();
            let RuntimeError::Store(StoreFailure {
                execution,
                path,
                error: cause,
            }) = &error
            else {
                panic!("{error}")
            };
            assert_eq!(
                (*execution, cause.to_string()),
                (Some(started.id()), message.to_owned())
            );
            let path = path.clone().unwrap();
            assert!(path.starts_with("stops"), "{path}");
            if from_path == "stops.increase" {
                assert_eq!(path, from_path);
                assert_eq!(
                    error.to_string(),
                    format!("execution {} at `{path}`: {message}", started.id())
                );
            }
            let stood = seen(&first, started.id()).await;
            assert_eq!(stood.0, Status::Running);

            failing.fault.refuses.store(false, Ordering::SeqCst);
            first.recover().await.unwrap();
            pass(minutes(1)).await;
            let execution = started.settled().await.unwrap();
            assert_eq!(
                execution.output::<Stops>().unwrap().unwrap().passed,
                3,
                "{from_path}"
            );
            let journal = execution.journal().await.unwrap();
            assert!(outcomes(&journal).values().all(|count| *count == 1));
            assert_eq!(journal[..stood.1.len()], stood.1[..]);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_of_the_store_names_what_was_not_stored_and_has_its_source() {
    let gate = Gate::closed();
    let failing = Faulty::new(&store(), CrashAfter::appends(1));
    let runtime = runtime(failing, later(&gate, 1));
    let started = runtime
        .executions()
        .start::<Later>(LaterInput { number: 1 }, StartOptions::new());
    let started = started.await.unwrap();
    pass(minutes(1)).await;
    gate.open();
    let error = started.settled().await.unwrap_err();
    let RuntimeError::Store(StoreFailure { path, .. }) = &error else {
        panic!("{error}")
    };
    assert_eq!(
        path.as_deref(),
        Some("later.gated"),
        "the outcome, and not the next step that has begun"
    );
    let source = std::error::Error::source(&error).unwrap();
    assert_eq!(source.to_string(), "the process has crashed");
}

/// The claims of a process are prolonged all at once, but for those of what has stopped there.
#[tokio::test(start_paused = true)]
async fn what_has_stopped_goes_on_while_others_still_run_there() {
    let (store, gate) = (store(), Gate::closed());
    let fault = Refusing {
        refuses: AtomicBool::new(true),
        from_path: "stops.increase",
        reason: || StoreError::Full("0 bytes left".into()),
    };
    let failing = Faulty::new(&store, fault);
    let first = runtime(failing.clone(), stops(&gate, 1));
    let stopped = first
        .executions()
        .start::<Stops>(StopsInput { number: 1 }, StartOptions::new())
        .await
        .unwrap();
    stopped.settled().await.unwrap_err();
    failing.fault.refuses.store(false, Ordering::SeqCst);
    let runs = first
        .executions()
        .start::<Stops>(StopsInput { number: 5 }, StartOptions::new())
        .await
        .unwrap();
    let second = runtime(store, stops(&gate, 1));
    first.recover().await.unwrap();
    second.recover().await.unwrap();
    pass(minutes(10)).await;
    let journal = stopped.refreshed().await.unwrap().journal().await.unwrap();
    assert_eq!(
        outcomes(&journal).len(),
        1,
        "nobody has gone on with it in ten minutes"
    );
    gate.open();
    assert_eq!(runs.settled().await.unwrap().status(), Status::Completed);
    assert_eq!(stopped.settled().await.unwrap().status(), Status::Completed);
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_stored_is_not_started() {
    let (store, gate) = (store(), Gate::closed());
    let failing = Faulty::new(&store, CrashAfter::appends(0));
    let first = runtime(failing, stops(&gate, 1));
    let started = first
        .executions()
        .start::<Stops>(StopsInput { number: 1 }, StartOptions::new())
        .await
        .unwrap();
    started.settled().await.unwrap_err();
    let error = first
        .executions()
        .start::<Stops>(StopsInput { number: 2 }, StartOptions::new())
        .await
        .unwrap_err();
    assert!(matches!(error, RuntimeError::Store { .. }), "{error}");
    assert_eq!(store.list(&Default::default()).await.unwrap().len(), 1);
}

flow_law::law! {
    nodes: [increase],
    flows: [
        Waits,
        Falls with [FallsBack = FallsBack],
    ],
}
