//! How executions with spread loops end, or go on in another version.

use std::collections::BTreeMap;
use std::time::Duration;

use flow_durable::{ExecutionId, ListOptions, Runtime, RuntimeError, StartOptions, Status};
use flow_runtime::prelude::*;

use crate::spread::{
    Forgiving, ForgivingInput, Judged, JudgedInput, Products, Work, parts, start, worker,
};
use crate::stores::{Fault, Faulty};
use crate::support::{Shared, options, store};

#[tokio::test(start_paused = true)]
async fn what_was_done_before_a_crash_is_not_done_again() {
    let (store, work) = (store(), Work::new());
    work.may.forget_permits(1000 - 7);
    let first = worker(&store, &work, 8);
    let id = start(&first, 0..16).await.id();
    while work.counts().len() < 7 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    tokio::time::sleep(Duration::from_millis(500)).await;
    first.shut_down().await;
    work.may.add_permits(1000);
    let second = worker(&store, &work, 8);
    second.recover().await.unwrap();
    let execution = second
        .executions()
        .get(id)
        .await
        .unwrap()
        .settled()
        .await
        .unwrap();
    assert_eq!(execution.status(), Status::Completed);
    let products: Vec<u32> = (0..16).map(|number| number * 16).collect();
    assert_eq!(
        execution.output::<Products>().unwrap().unwrap().products,
        products
    );
    assert!(
        work.counts().values().all(|count| *count == 1),
        "{:?}",
        work.counts()
    );
}

#[tokio::test(start_paused = true)]
async fn an_item_that_fails_ends_the_loop_and_its_other_parts() {
    let (store, work) = (store(), Work::new());
    let runtime = worker(&store, &work, 2);
    let numbers = (0..40).map(|number| if number == 9 { 666 } else { number });
    let execution = start(&runtime, numbers).await.settled().await.unwrap();
    assert_eq!(execution.status(), Status::Failed);
    let reason = execution.reason().unwrap();
    assert_eq!(
        reason,
        "node `products.products[9]` failed after 1 attempt: not this one"
    );
    let mut statuses = BTreeMap::new();
    for part in parts(&runtime, execution.id()).await {
        *statuses.entry(part.status().as_str()).or_insert(0) += 1;
    }
    assert_eq!(statuses["failed"], 1, "{statuses:?}");
    assert!(statuses["cancelled"] >= 5, "{statuses:?}");
    assert!(
        work.counts().len() < 30,
        "the others do not run to their end"
    );
}

#[tokio::test(start_paused = true)]
async fn the_error_of_an_item_is_routed() {
    let work = Work::new();
    let runtime = Runtime::with_options(store(), options());
    runtime
        .register(Forgiving::builder().work(work.clone()).build())
        .unwrap();
    let input = ForgivingInput {
        numbers: vec![1, 2, 3, 666, 5],
    };
    let start = runtime
        .executions()
        .start::<Forgiving>(input, StartOptions::new());
    let execution = start.await.unwrap().settled().await.unwrap();
    assert_eq!(execution.output::<Forgiving>().unwrap().unwrap().sum, 0);
}

#[tokio::test(start_paused = true)]
async fn parts_of_a_cancelled_execution_end() {
    let (store, work) = (store(), Work::new());
    work.may.forget_permits(1000);
    let runtime = worker(&store, &work, 3);
    let id = start(&runtime, 0..40).await.id();
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(
        runtime.executions().get(id).await.unwrap().status(),
        Status::Paused
    );
    runtime
        .executions()
        .cancel(id, "no longer needed")
        .await
        .unwrap();
    tokio::time::sleep(Duration::from_secs(6)).await;
    work.may.add_permits(1000);
    tokio::time::sleep(Duration::from_secs(60)).await;
    for part in parts(&runtime, id).await {
        assert_eq!(part.status(), Status::Cancelled);
        assert_eq!(
            part.reason().unwrap(),
            "the execution that had this part is over"
        );
    }
    assert!(work.counts().is_empty(), "{:?}", work.counts());
}

#[tokio::test(start_paused = true)]
async fn a_part_that_is_cancelled_fails_the_loop() {
    let (store, work) = (store(), Work::new());
    work.may.forget_permits(1000);
    let runtime = worker(&store, &work, 3);
    let id = start(&runtime, 0..8).await.id();
    tokio::time::sleep(Duration::from_millis(500)).await;
    let part = parts(&runtime, id).await[0].id();
    let refused = runtime.executions().delete(part).await.unwrap_err();
    assert!(
        matches!(refused, RuntimeError::IsPart { of, .. } if of == id),
        "{refused}"
    );
    runtime
        .executions()
        .cancel(part, "a mistake")
        .await
        .unwrap();
    let execution = runtime
        .executions()
        .get(id)
        .await
        .unwrap()
        .settled()
        .await
        .unwrap();
    assert_eq!(execution.status(), Status::Failed);
    let reason = execution.reason().unwrap();
    assert!(reason.ends_with("it was cancelled: a mistake"), "{reason}");

    runtime.executions().delete(id).await.unwrap();
    assert!(
        runtime
            .executions()
            .list(ListOptions::new())
            .await
            .unwrap()
            .is_empty()
    );
}

#[tokio::test(start_paused = true)]
async fn questions_of_parts_are_withdrawn_when_nobody_needs_them() {
    let runtime = Runtime::with_options(store(), options());
    runtime.register(Judged::new()).unwrap();
    let input = JudgedInput {
        numbers: vec![1, 2, 3],
    };
    let start = runtime
        .executions()
        .start::<Judged>(input, StartOptions::new());
    let id = start.await.unwrap().id();
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(parts(&runtime, id).await.len(), 2);
    runtime
        .executions()
        .cancel(id, "no longer needed")
        .await
        .unwrap();
    for part in parts(&runtime, id).await {
        assert_eq!(part.status(), Status::Cancelled);
        assert!(part.questions().await.unwrap().is_empty());
    }
}

#[node]
fn huge(number: &u32) -> u128 {
    u128::MAX - u128::from(*number)
}

flow! {
    Unstorable(numbers: Vec<u32>) -> (all: Vec<u128>) {
        node all: for number in numbers { huge } with spread(2);
        start >> all >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn whoever_waits_is_told_why_a_part_cannot_continue() {
    let runtime = Runtime::with_options(store(), options());
    runtime.register(Unstorable::new()).unwrap();
    let input = UnstorableInput {
        numbers: vec![1, 2, 3],
    };
    let start = runtime
        .executions()
        .start::<Unstorable>(input, StartOptions::new());
    let error = start.await.unwrap().settled().await.unwrap_err();
    let RuntimeError::Unstorable { path, .. } = &error else {
        panic!("{error}");
    };
    assert!(path.starts_with("unstorable.all["), "{error}");
}

/// The same flow as it was before, and as it may be later.
mod versions {
    use flow_runtime::prelude::*;

    use crate::spread::{Work, factor, sum};

    pub(super) mod without {
        use super::*;

        flow! {
            pub(crate) Products(numbers: Vec<u32>) -> (products: Vec<u32>, sum: u32) {
                node work: Work;
                node products: for number in numbers { work } with concurrency(2);
                start >> factor >> products >> sum >> end;
            }
        }
    }

    pub(super) mod by_two {
        use super::*;

        flow! {
            pub(crate) Products(numbers: Vec<u32>) -> (products: Vec<u32>, sum: u32) {
                node work: Work;
                node products: for number in numbers { work } with concurrency(2), spread(2);
                start >> factor >> products >> sum >> end;
            }
        }
    }
}

/// An execution whose loop has been divided, in a store that nobody uses any more.
async fn divided(work: &Work) -> (Shared, ExecutionId) {
    let store = store();
    work.may.forget_permits(1000 - 5);
    let first = worker(&store, work, 8);
    let id = start(&first, 0..12).await.id();
    while work.counts().len() < 5 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    first.shut_down().await;
    work.may.add_permits(1000);
    (store, id)
}

#[tokio::test(start_paused = true)]
async fn a_loop_goes_on_as_it_was_divided() {
    let work = Work::new();
    let (store, id) = divided(&work).await;
    let runtime = Runtime::with_options(store, options());
    let flow = versions::by_two::Products::builder().work(work.clone());
    runtime.register(flow.build()).unwrap();
    runtime.recover().await.unwrap();
    let execution = runtime
        .executions()
        .get(id)
        .await
        .unwrap()
        .settled()
        .await
        .unwrap();
    assert_eq!(execution.status(), Status::Completed);
    assert_eq!(parts(&runtime, id).await.len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_version_without_parts_does_not_do_them_again() {
    let work = Work::new();
    let (store, id) = divided(&work).await;
    let before = work.counts();
    let runtime = Runtime::with_options(store, options());
    let flow = versions::without::Products::builder().work(work.clone());
    runtime.register(flow.build()).unwrap();
    // The execution looks for itself after a lease.
    tokio::time::sleep(Duration::from_secs(60)).await;
    let recovered = runtime.recover().await.unwrap();
    let is_changed = |(_, error): &(ExecutionId, RuntimeError)| {
        matches!(error, RuntimeError::FlowChanged { .. })
    };
    assert!(!recovered.refused.is_empty());
    assert!(recovered.refused.iter().all(is_changed), "{recovered:?}");
    let error = runtime
        .executions()
        .get(id)
        .await
        .unwrap()
        .settled()
        .await
        .unwrap_err();
    assert!(matches!(error, RuntimeError::FlowChanged { .. }), "{error}");
    assert_eq!(work.counts(), before, "nor do the parts go on");
}

#[tokio::test(start_paused = true)]
async fn a_copy_of_an_execution_in_its_loop_makes_parts_of_its_own() {
    let (store, work) = (store(), Work::new());
    work.may.forget_permits(1000 - 6);
    let runtime = worker(&store, &work, 8);
    let id = start(&runtime, 0..12).await.id();
    tokio::time::sleep(Duration::from_secs(1)).await;
    let newest = runtime
        .executions()
        .get(id)
        .await
        .unwrap()
        .journal()
        .await
        .unwrap()
        .len() as u64
        - 1;
    let copy = runtime.executions().copy(id, newest).await.unwrap();
    work.may.add_permits(1000);
    for id in [id, copy.id()] {
        let execution = runtime
            .executions()
            .get(id)
            .await
            .unwrap()
            .settled()
            .await
            .unwrap();
        assert_eq!(
            execution.status(),
            Status::Completed,
            "{:?}",
            execution.reason()
        );
        assert_eq!(parts(&runtime, id).await.len(), 3);
    }
}

/// A store that takes a while to make a part.
#[derive(Debug)]
struct Late;

impl Fault for Late {
    fn answers_late(&self) -> Duration {
        Duration::from_millis(5)
    }
}

/// Nothing of a deleted execution is left, also of those parts that another process was making.
#[tokio::test(start_paused = true)]
async fn a_deleted_execution_leaves_no_parts() {
    for before in [1, 2, 7, 40] {
        let (store, work) = (store(), Work::new());
        work.may.forget_permits(1000);
        let options = || options().look_for_work(Duration::from_millis(50));
        let slow = Faulty::new(&store, Late);
        let maker = Runtime::with_options(slow, options().concurrent_executions(1));
        let flow = Products::builder().work(work.clone());
        maker.register(flow.build()).unwrap();
        let id = start(&maker, 0..200).await.id();
        let front = Runtime::with_options(store, options().concurrent_executions(0));
        let flow = Products::builder().work(work.clone());
        front.register(flow.build()).unwrap();
        while parts(&front, id).await.len() < before {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        front.executions().delete(id).await.unwrap();
        tokio::time::sleep(Duration::from_secs(60)).await;
        let left = front.executions().list(ListOptions::new()).await.unwrap();
        assert_eq!(left.len(), 0, "{before} parts were there");
        maker.shut_down().await;
    }
}

flow_law::law! {
    nodes: [huge],
    flows: [],
    left_out: [Unstorable, versions::without::Products, versions::by_two::Products],
}
