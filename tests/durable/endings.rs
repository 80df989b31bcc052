//! How executions end before their time: deleted, cancelled, failed.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use flow_durable::{ListOptions, RuntimeError, StartOptions, Status};
use flow_runtime::prelude::*;

use crate::executions::{Short, ShortInput};
use crate::gates::{Gate, Stops, StopsInput, increase, stops};
use crate::support::{lines, minutes, outcomes, pass, runtime, seen, settled, store};

#[tokio::test(start_paused = true)]
async fn what_is_deleted_is_gone() {
    let gate = Gate::closed();
    let runtime = runtime(store(), stops(&gate, 1));
    runtime.register(Short::new()).unwrap();
    let done = settled::<Short>(&runtime, ShortInput { number: 1 }).await;
    let running = runtime
        .executions()
        .start::<Stops>(StopsInput { number: 1 }, StartOptions::new())
        .await
        .unwrap();
    pass(Duration::from_secs(1)).await;
    assert_eq!((gate.runs(), gate.dropped()), (1, 0));
    for execution in [done, running] {
        runtime.executions().delete(execution.id()).await.unwrap();
        let error = execution.refreshed().await.unwrap_err();
        assert!(matches!(error, RuntimeError::NotFound(_)), "{error}");
        let error = runtime
            .executions()
            .delete(execution.id())
            .await
            .unwrap_err();
        assert!(matches!(error, RuntimeError::NotFound(_)), "{error}");
    }
    pass(Duration::from_secs(1)).await;
    assert_eq!(gate.dropped(), 1);
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
async fn what_runs_can_be_cancelled() {
    let gate = Gate::closed();
    let runtime = runtime(store(), stops(&gate, 1));
    let started = runtime
        .executions()
        .start::<Stops>(StopsInput { number: 1 }, StartOptions::new())
        .await
        .unwrap();
    pass(Duration::from_secs(1)).await;
    let cancelled = runtime
        .executions()
        .cancel(started.id(), "not wanted any more")
        .await
        .unwrap();
    assert_eq!(
        (cancelled.status(), cancelled.reason()),
        (Status::Cancelled, Some("not wanted any more"))
    );
    assert_eq!(started.settled().await.unwrap().status(), Status::Cancelled);
    assert_eq!((gate.runs(), gate.dropped()), (1, 1));
    gate.open();
    pass(minutes(5)).await;
    assert!(runtime.recover().await.unwrap().resumed.is_empty());
    let journal = started.refreshed().await.unwrap().journal().await.unwrap();
    assert_eq!(
        lines(&journal),
        r#"run_started stops {"number":1}
node_started stops.increase 
outcome stops.increase 2
node_finished stops.increase default
node_started stops.gated 
run_cancelled stops not wanted any more
"#
    );
}

#[node]
fn panics(number: &u64) -> u64 {
    panic!("no {number} here")
}

#[node(retry(attempts = 2))]
fn fails(number: &u64) -> Result<u64, std::num::ParseIntError> {
    format!("{number}?").parse()
}

macro_rules! one_node {
    ($flow:ident, $node:ident) => {
        flow! {
            $flow(number: u64) -> () {
                start >> $node >> end;
            }
        }
    };
}

one_node!(Panics, panics);
one_node!(Fails, fails);

flow! {
    Endless(number: u64) -> () {
        branch again(number) {
            *number == 0 => "no",
            else => "yes",
        }
        start >> increase >> again;
        again - "yes" >> increase;
        again - "no" >> end;
    }
}

/// D-08, A-015
#[tokio::test(start_paused = true)]
async fn a_failed_execution_says_why() {
    let runtime = runtime(store(), Panics::new());
    runtime.register(Fails::new()).unwrap();
    runtime.register(Endless::new()).unwrap();
    let failed = settled::<Fails>(&runtime, FailsInput { number: 3 }).await;
    assert_eq!(failed.status(), Status::Failed);
    assert_eq!(
        failed.reason(),
        Some("node `fails.fails` failed after 2 attempts: invalid digit found in string")
    );
    assert_eq!(failed.output_json().unwrap(), None);
    assert_eq!(
        lines(&failed.journal().await.unwrap()),
        r#"run_started fails {"number":3}
node_started fails.fails 
attempt_failed fails.fails invalid digit found in string
attempt_failed fails.fails invalid digit found in string
node_failed fails.fails {"path":"fails.fails","attempts":2,"returned":["invalid digit found in string"]}
run_failed fails node `fails.fails` failed after 2 attempts: invalid digit found in string
"#
    );
    assert!(runtime.recover().await.unwrap().resumed.is_empty());
    let error = runtime
        .executions()
        .cancel(failed.id(), "cancelled")
        .await
        .unwrap_err();
    assert!(
        matches!(
            error,
            RuntimeError::Over {
                status: Status::Failed,
                ..
            }
        ),
        "{error}"
    );
}

static MENDED: AtomicBool = AtomicBool::new(false);
static TRIED: AtomicUsize = AtomicUsize::new(0);

#[node(writes = number)]
fn defect(number: &u64) -> u64 {
    TRIED.fetch_add(1, Ordering::SeqCst);
    assert!(MENDED.load(Ordering::SeqCst), "no {number} yet");
    number + 1
}

flow! {
    Defect(number: u64) -> (number: u64) {
        start >> increase >> defect >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn a_defect_halts_an_execution_until_it_is_mended() {
    let store = store();
    let first = runtime(store.clone(), Defect::new());
    let input = DefectInput { number: 1 };
    let started = first
        .executions()
        .start::<Defect>(input, StartOptions::new())
        .await;
    let id = started.unwrap().id();
    let halted = first
        .executions()
        .get(id)
        .await
        .unwrap()
        .settled()
        .await
        .unwrap_err();
    assert_eq!(
        halted.to_string(),
        format!(
            "execution {id} is halted, and continues with a program in which this is mended: node \
             `defect.defect` panicked: no 2 yet"
        )
    );
    pass(minutes(5)).await;
    let (status, journal, _) = seen(&first, id).await;
    assert_eq!(status, Status::Running);
    assert_eq!(
        outcomes(&journal).into_keys().collect::<Vec<_>>(),
        ["defect.increase"]
    );
    assert_eq!(TRIED.load(Ordering::SeqCst), 1, "not by itself");
    first.shut_down().await;

    MENDED.store(true, Ordering::SeqCst);
    let second = runtime(store, Defect::new());
    assert_eq!(second.recover().await.unwrap().resumed, [id]);
    let execution = second
        .executions()
        .get(id)
        .await
        .unwrap()
        .settled()
        .await
        .unwrap();
    assert_eq!(execution.output::<Defect>().unwrap().unwrap().number, 3);
    let counts = outcomes(&execution.journal().await.unwrap());
    assert!(counts.values().all(|count| *count == 1), "{counts:?}");
}

#[tokio::test(start_paused = true)]
async fn a_used_budget_halts_an_execution() {
    let runtime = runtime(store(), Endless::new());
    let options = StartOptions::new().step_budget(5);
    let input = EndlessInput { number: 1 };
    let started = runtime
        .executions()
        .start::<Endless>(input, options)
        .await
        .unwrap();
    let halted = started.settled().await.unwrap_err().to_string();
    let reason = "the run used up its 5 steps before `endless.again`; if it is meant to be that long, raise `step_budget`";
    assert!(halted.ends_with(reason), "{halted}");
    assert_eq!(started.refreshed().await.unwrap().status(), Status::Running);
}

/// It goes on where it was halted, in whichever process, and is halted again when that is used up.
#[tokio::test(start_paused = true)]
async fn an_execution_that_used_up_its_budget_continues_with_more_steps() {
    let store = store();
    let first = runtime(store.clone(), Endless::new());
    let options = StartOptions::new().step_budget(5);
    let input = EndlessInput { number: 1 };
    let started = first
        .executions()
        .start::<Endless>(input, options)
        .await
        .unwrap();
    let id = started.id();
    started.settled().await.unwrap_err();
    // Every other step is the branch, which has no outcome. What ran last is not recorded, and runs
    // again.
    let increased = async || {
        outcomes(
            &first
                .executions()
                .get(id)
                .await
                .unwrap()
                .journal()
                .await
                .unwrap(),
        )
        .len()
    };
    assert_eq!(increased().await, 2);

    let second = runtime(store, Endless::new());
    for (more, budget, expected) in [(4, 9, 4), (0, 9, 4), (20, 29, 14)] {
        let continued = second
            .executions()
            .retry_with_steps(id, more)
            .await
            .unwrap();
        let halted = continued.settled().await.unwrap_err().to_string();
        let reason = format!("the run used up its {budget} steps before `endless.again`");
        assert!(halted.contains(&reason), "{halted}");
        assert_eq!(increased().await, expected);
    }

    first.executions().cancel(id, "enough").await.unwrap();
    let refused = second
        .executions()
        .retry_with_steps(id, 99)
        .await
        .unwrap_err();
    assert!(
        matches!(refused, RuntimeError::NotHalted(of) if of == id),
        "{refused}"
    );
}

flow_law::law! {
    nodes: [panics, fails, increase],
    flows: [
        Fails,
        Panics,
        Endless,
    ],
    left_out: [Defect],
}
