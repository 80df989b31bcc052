//! Executions: how they stand, which ones there are, and whose they are.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, UNIX_EPOCH};

use flow_durable::{
    EventFilter, Execution, ExecutionId, Executions, ListOptions, Runtime, RuntimeError,
    RuntimeOptions, StartOptions, Status,
};
use flow_runtime::prelude::*;

use crate::gates::{Gate, Stops, StopsInput, increase, stops};
use crate::support::{minutes, pass, runtime, settled, store};

flow! {
    pub(crate) Short(number: u64) -> (number: u64) {
        start >> increase >> end;
    }
}

/// All of them within one millisecond, and the clock is even set back.
#[tokio::test(start_paused = true)]
async fn executions_are_listed_as_they_were_started() {
    let clock = Arc::new(AtomicU64::new(1_000_000));
    let read = clock.clone();
    let clock_of = move || UNIX_EPOCH + Duration::from_millis(read.load(Ordering::Relaxed));
    let runtime = Runtime::with_options(store(), RuntimeOptions::new().clock(clock_of));
    runtime.register(Short::new()).unwrap();
    let mut started = Vec::new();
    for number in 0..64 {
        if number == 32 {
            clock.fetch_sub(1, Ordering::Relaxed);
        }
        let input = ShortInput { number };
        let execution = runtime
            .executions()
            .start::<Short>(input, StartOptions::new())
            .await;
        started.push(execution.unwrap().id().to_string());
    }
    assert!(started.is_sorted(), "{started:#?}");
    let page = ListOptions::new().limit(100);
    let listed = runtime.executions().list(page).await.unwrap();
    let listed = listed.iter().rev().map(|one| one.id().to_string());
    assert_eq!(listed.collect::<Vec<_>>(), started);
}

///
#[tokio::test(start_paused = true)]
async fn a_start_returns_at_once() {
    let gate = Gate::closed();
    let runtime = runtime(store(), stops(&gate, 1));
    let started = runtime
        .executions()
        .start::<Stops>(StopsInput { number: 1 }, StartOptions::new())
        .await
        .unwrap();
    assert_eq!(
        (started.status(), started.flow()),
        (Status::Running, "Stops")
    );
    assert_eq!(
        (
            started.owner(),
            started.idempotency_key(),
            started.copied_from()
        ),
        (None, None, None)
    );
    assert_eq!(
        started
            .output::<Stops>()
            .unwrap()
            .map(|output| output.passed),
        None
    );
    assert_eq!(started.reason(), None);
    pass(minutes(5)).await;
    assert_eq!(started.refreshed().await.unwrap().status(), Status::Running);
    gate.open();
    let settled = started.settled().await.unwrap();
    assert_eq!(settled.status(), Status::Completed);
    assert_eq!(settled.output::<Stops>().unwrap().unwrap().passed, 3);
    assert_eq!(
        started.status(),
        Status::Running,
        "it is as it was when it was looked at"
    );
    let took = settled
        .updated_at()
        .duration_since(settled.created_at())
        .unwrap();
    assert_eq!(took, minutes(5));
    let error = settled.output::<Short>().map(|_| ()).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("it is an execution of `Stops`, not of `Short`"),
        "{error}"
    );
}

///
#[tokio::test(start_paused = true)]
async fn ids_grow_with_time() {
    let runtime = runtime(store(), Short::new());
    let mut ids = Vec::new();
    for number in 0..5 {
        ids.push(settled::<Short>(&runtime, ShortInput { number }).await.id());
        pass(Duration::from_millis(1)).await;
    }
    assert!(
        ids.is_sorted_by(|a, b| a < b && a.to_string() < b.to_string()),
        "{ids:?}"
    );
    for id in ids {
        let created = runtime.executions().get(id).await.unwrap().created_at();
        let (secs, nanos) = id.as_uuid().get_timestamp().unwrap().to_unix();
        let time = UNIX_EPOCH + Duration::new(secs, nanos);
        assert_eq!(created.duration_since(time).unwrap().as_millis(), 0);
    }
}

///
#[tokio::test(start_paused = true)]
async fn what_does_not_exist_is_not_found() {
    let runtime = runtime(store(), Short::new());
    let id: ExecutionId = "01890a5d-ac96-774b-bcce-b302099a8057".parse().unwrap();
    for error in [
        runtime.executions().get(id).await.map(drop).unwrap_err(),
        runtime
            .executions()
            .cancel(id, "cancelled")
            .await
            .map(drop)
            .unwrap_err(),
        runtime.executions().delete(id).await.unwrap_err(),
        runtime
            .executions()
            .state(id, 0)
            .await
            .map(drop)
            .unwrap_err(),
        runtime
            .executions()
            .copy(id, 0)
            .await
            .map(drop)
            .unwrap_err(),
    ] {
        assert!(
            matches!(error, RuntimeError::NotFound(of) if of == id),
            "{error}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_start_with_a_key_of_before_returns_the_execution_of_before() {
    let runtime = runtime(store(), Short::new());
    let ann = runtime.owned_by("Ann");
    let nobody = runtime.executions().clone();
    let start = async |executions: &Executions, number, key: &str| {
        let options = StartOptions::new().idempotency_key(key);
        executions
            .start::<Short>(ShortInput { number }, options)
            .await
            .unwrap()
            .settled()
            .await
            .unwrap()
    };
    let first = start(&nobody, 1, "order 1").await;
    assert_eq!(first.idempotency_key(), Some("order 1"));
    let again = start(&nobody, 1, "order 1").await;
    assert_eq!(again.id(), first.id());
    let options = StartOptions::new().idempotency_key("order 1");
    let other = runtime
        .executions()
        .start::<Short>(ShortInput { number: 5 }, options);
    let error = other.await.unwrap_err();
    assert!(
        matches!(&error, RuntimeError::OtherInput { execution, idempotency_key }
            if *execution == first.id() && idempotency_key == "order 1"),
        "{error}"
    );
    assert_eq!(again.output::<Short>().unwrap().unwrap().number, 2);
    assert_ne!(start(&nobody, 1, "order 2").await.id(), first.id());
    assert_ne!(start(&ann, 1, "order 1").await.id(), first.id());
    assert_eq!(
        runtime
            .executions()
            .list(ListOptions::new())
            .await
            .unwrap()
            .len(),
        2
    );
}

#[tokio::test(start_paused = true)]
async fn executions_are_listed_the_newest_first() {
    let gate = Gate::closed();
    let runtime = runtime(store(), stops(&gate, 1));
    runtime.register(Short::new()).unwrap();
    let mut ids = Vec::new();
    for number in 0..4 {
        ids.push(settled::<Short>(&runtime, ShortInput { number }).await.id());
        pass(minutes(10)).await;
    }
    let running = runtime
        .executions()
        .start::<Stops>(StopsInput { number: 1 }, StartOptions::new())
        .await
        .unwrap()
        .id();
    pass(minutes(10)).await;
    let ann = runtime.owned_by("Ann");
    let input = ShortInput { number: 9 };
    let started = ann.start::<Short>(input, StartOptions::new()).await;
    started.unwrap().settled().await.unwrap();

    let list = async |options: ListOptions| -> Vec<ExecutionId> {
        runtime
            .executions()
            .list(options)
            .await
            .unwrap()
            .iter()
            .map(Execution::id)
            .collect()
    };
    assert_eq!(
        list(ListOptions::new()).await,
        [running, ids[3], ids[2], ids[1], ids[0]]
    );
    assert_eq!(list(ListOptions::new().flow("Stops")).await, [running]);
    assert_eq!(list(ListOptions::new().flow("Others")).await, []);
    assert_eq!(
        list(ListOptions::new().status(Status::Running)).await,
        [running]
    );
    assert_eq!(list(ListOptions::new().status(Status::Failed)).await, []);
    assert_eq!(
        list(ListOptions::new().older_than(minutes(35))).await,
        [ids[1], ids[0]]
    );
    let page = ListOptions::new().status(Status::Completed).limit(3);
    assert_eq!(list(page.clone()).await, [ids[3], ids[2], ids[1]]);
    assert_eq!(list(page.before(ids[1])).await, [ids[0]]);

    gate.open();
    runtime
        .executions()
        .get(running)
        .await
        .unwrap()
        .settled()
        .await
        .unwrap();
    let untouched = ListOptions::new().untouched_for(minutes(15));
    assert_eq!(list(untouched).await, [ids[3], ids[2], ids[1], ids[0]]);
}

/// D-39: what belongs to somebody else is not there, whatever is asked.
#[tokio::test(start_paused = true)]
async fn an_execution_is_its_owners() {
    let gate = Gate::closed();
    let runtime = runtime(store(), stops(&gate, 1));
    runtime.register(crate::flows::Party::new()).unwrap();
    let (nobody, ann, bo) = (
        runtime.executions(),
        runtime.owned_by("Ann"),
        runtime.owned_by("Bo"),
    );
    assert_eq!((ann.owner(), nobody.owner()), (Some("Ann"), None));
    let input = crate::flows::PartyInput {
        number: 1,
        guests: vec![],
        guest: "Eve".into(),
    };
    let started = ann
        .start::<crate::flows::Party>(input, StartOptions::new())
        .await;
    let execution = started.unwrap().settled().await.unwrap();
    assert_eq!(
        (execution.status(), execution.owner()),
        (Status::Paused, Some("Ann"))
    );
    let journal = execution.journal().await.unwrap();
    let questions = execution.questions().await.unwrap();
    let (id, token) = (execution.id(), questions[0].token());
    let unowned = runtime
        .executions()
        .start::<Stops>(StopsInput { number: 1 }, StartOptions::new())
        .await
        .unwrap()
        .id();

    let name = || serde_json::json!({ "name": "Ann" });
    for (other, id) in [(&bo, id), (nobody, id), (&bo, unowned), (&ann, unowned)] {
        for error in [
            other.get(id).await.map(drop).unwrap_err(),
            other.cancel(id, "cancelled").await.map(drop).unwrap_err(),
            other.delete(id).await.unwrap_err(),
            other.state(id, 0).await.map(drop).unwrap_err(),
            other.state(id, 999).await.map(drop).unwrap_err(),
            other.copy(id, 0).await.map(drop).unwrap_err(),
        ] {
            assert!(
                matches!(error, RuntimeError::NotFound(of) if of == id),
                "{error}"
            );
        }
        let filter = EventFilter::new().execution(id).from_start().until_now();
        let mut events = other.events(filter).await.unwrap();
        assert!(events.next().await.is_none());
    }
    // Also if the answer is wrong, which only the execution could tell.
    for answer in [name(), serde_json::json!(7)] {
        for other in [&bo, nobody] {
            let error = other.resume(token, answer.clone()).await.unwrap_err();
            assert!(matches!(error, RuntimeError::UnknownToken), "{error}");
        }
    }
    for other in [&bo, nobody] {
        assert!(other.expire(Duration::ZERO).await.unwrap().is_empty());
    }
    assert!(bo.list(ListOptions::new()).await.unwrap().is_empty());
    let now = ann.get(id).await.unwrap();
    assert_eq!(now.status(), Status::Paused);
    assert_eq!(now.journal().await.unwrap(), journal);
    let copy = ann.copy(id, 0).await.unwrap();
    assert_eq!(copy.owner(), Some("Ann"));
    ann.resume(token, name()).await.unwrap();
    ann.cancel(id, "cancelled").await.unwrap();
    for error in [
        bo.resume(token, name()).await.unwrap_err(),
        nobody.resume(token, name()).await.unwrap_err(),
    ] {
        assert!(matches!(error, RuntimeError::UnknownToken), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_flow_is_registered_once() {
    let runtime = runtime(store(), Short::new());
    let error = runtime.register(Short::new()).unwrap_err();
    assert_eq!(error.to_string(), "a flow `Short` is registered already");
}

#[test]
fn a_status_is_written_as_it_is_read() {
    for status in Status::ALL {
        assert_eq!(status.to_string(), status.as_str());
        assert_eq!(status.as_str().parse(), Ok(status));
    }
}

flow_law::law! {
    nodes: [increase],
    flows: [
        Short,
    ],
}
