//! Flows that are replaced while their runtime runs: executions start on the newest version, and go on with the one on
//! which they started.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use flow_durable::{
    Durable, Execution, ExecutionId, RecordKind, Runtime, RuntimeError, StartOptions, StateSource,
    Status, Store as _,
};
use flow_runtime::engine::{AnyFlow, ExternalType, RefusedInput, RunError, Saved};
use flow_runtime::prelude::*;
use serde_json::{Value, json};

use crate::changed::{extended, old, renamed};
use crate::flows::{
    Forks, ForksInput, Items, ItemsInput, Nested, NestedInput, Party, PartyInput, Waits, WaitsInput,
};
use crate::gates::{Gate, stops};
use crate::prefixes::the_same_if_replaced;
use crate::support::{Shared, minutes, options, pass, runtime, store};

/// A version of this flow that no execution takes.
pub(crate) struct Unused(pub(crate) &'static str);

impl AnyFlow<Durable> for Unused {
    fn name(&self) -> &str {
        self.0
    }

    fn namespace(&self) -> &str {
        "unused"
    }

    fn structure(&self) -> &str {
        "{}"
    }

    fn external(&self, _: &str) -> Option<ExternalType> {
        panic!("{} was asked for a question", self.0)
    }

    fn stored_input(&self, input: Saved) -> Result<Saved, RefusedInput> {
        Ok(input)
    }

    fn inputs(&self) -> Vec<&str> {
        Vec::new()
    }

    fn run<'a>(
        &'a self,
        _: &'a Durable,
        _: Saved,
    ) -> Pin<Box<dyn Future<Output = Result<Saved, RunError>> + Send + 'a>> {
        panic!("{} was run", self.0)
    }
}

#[tokio::test(start_paused = true)]
async fn executions_end_as_they_would_have_from_everywhere() {
    let nobody = |_: &_| None;
    the_same_if_replaced(Forks::new, || ForksInput { number: 1 }, nobody).await;
    the_same_if_replaced(Nested::new, || NestedInput { number: 1 }, nobody).await;
    the_same_if_replaced(Waits::new, || WaitsInput { number: 1 }, nobody).await;
    let items = || ItemsInput {
        items: vec![0, 1, 3, 4, 5, 6],
    };
    the_same_if_replaced(Items::new, items, nobody).await;
    let party = || PartyInput {
        number: 1,
        guests: ["Ben", "Cid", "Dan"].map(str::to_owned).into(),
        guest: "Eve".to_owned(),
    };
    let output = the_same_if_replaced(Party::new, party, |question| match question.prompt() {
        "Who is number 1?" => Some(json!({ "name": "Ann" })),
        "Does Ben come?" => Some(json!({ "Yes": { "with": 2 } })),
        "Does Cid come?" => Some(json!("No")),
        "Does Dan come?" => Some(json!({ "Yes": { "with": 0 } })),
        _ => None,
    });
    let expected = json!({ "count": 10, "seats": 10, "end": "late" });
    assert_eq!(output.await, expected);
}

/// The structure on which an execution started.
async fn structure(store: &Shared, id: ExecutionId) -> String {
    store.execution(id).await.unwrap().unwrap().structure
}

async fn start(runtime: &Runtime) -> Result<Execution, RuntimeError> {
    let input = json!({ "number": 4 });
    let options = StartOptions::new();
    let execution = runtime
        .executions()
        .start_json("Changing", input, options)
        .await?;
    execution.settled().await
}

/// The output of a paused execution once its question is answered.
async fn answered(runtime: &Runtime, id: ExecutionId) -> Result<Value, RuntimeError> {
    let execution = runtime.executions().get(id).await?;
    let token = execution.questions().await?[0].token();
    let execution = runtime
        .executions()
        .resume(token, json!({ "yes": true }))
        .await?;
    let output = execution.settled().await?.output_json()?;
    Ok(output.unwrap()["last"].clone())
}

#[tokio::test(start_paused = true)]
async fn new_executions_take_the_new_version_and_others_finish_on_theirs() {
    let store = store();
    let runtime = runtime(store.clone(), old::Changing::new());
    let before = start(&runtime).await.unwrap();
    let started_on = structure(&store, before.id()).await;
    runtime
        .replace(Arc::new(extended::Changing::new()))
        .unwrap();
    let after = start(&runtime).await.unwrap();
    assert_eq!(answered(&runtime, before.id()).await.unwrap(), 41);
    assert_eq!(answered(&runtime, after.id()).await.unwrap(), 1041);
    assert_eq!(structure(&store, before.id()).await, started_on);

    // A copy goes on with the version of its original.
    let journal = before.journal().await.unwrap();
    let asked = journal.iter().find(|it| it.kind == RecordKind::Paused);
    let seq = asked.unwrap().seq;
    let copy = runtime
        .executions()
        .copy(before.id(), seq)
        .await
        .unwrap()
        .id();
    assert_eq!(answered(&runtime, copy).await.unwrap(), 41);
}

#[tokio::test(start_paused = true)]
async fn what_breaks_executions_is_refused_unless_both_are_kept() {
    let store = store();
    let first = runtime(store.clone(), old::Changing::new());
    let before = start(&first).await.unwrap().id();
    let new = Arc::new(renamed::Changing::new());
    let refused = first.replace(new.clone()).unwrap_err();
    let RuntimeError::BreakingVersion { flow, changes } = &refused else {
        panic!("{refused}")
    };
    assert_eq!(flow, "Changing");
    let expected = [
        "node `go` was renamed to `asks` (executions)",
        "node `first` was renamed to `begin` (executions)",
        "`begin` writes `begin` instead of `first` (executions)",
    ];
    assert_eq!(*changes, expected);
    assert_eq!(
        refused.to_string(),
        format!(
            "the flow `Changing` is not replaced, because its new version would break callers or executions:\n  {}",
            expected.join("\n  ")
        )
    );
    let still_old = start(&first).await.unwrap().id();

    first.add_version(new.clone()).unwrap();
    let after = start(&first).await.unwrap().id();
    assert_eq!(answered(&first, before).await.unwrap(), 41);
    assert_eq!(answered(&first, after).await.unwrap(), 41);

    // Another process needs both as well.
    first.shut_down().await;
    let second = runtime(store.clone(), renamed::Changing::new());
    let error = answered(&second, still_old).await.unwrap_err();
    assert!(matches!(error, RuntimeError::FlowChanged { .. }), "{error}");
    second.shut_down().await;
    let third = runtime(store, old::Changing::new());
    third.add_version(new).unwrap();
    assert_eq!(answered(&third, still_old).await.unwrap(), 41);
}

mod more_inputs {
    use super::*;

    #[node(writes = last)]
    fn add(number: &u64, more: &u64) -> u64 {
        number + more
    }

    flow! {
        pub(crate) Changing(number: u64, more: u64) -> (last: u64) {
            start >> add >> end;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_breaks_callers_is_refused_and_typed_starts_go_on() {
    let runtime = runtime(store(), old::Changing::new());
    let new = Arc::new(more_inputs::Changing::new());
    let refused = runtime.replace(new.clone()).unwrap_err().to_string();
    let expected = "\n  input `more` was added, and has to be given (callers, executions)";
    assert!(refused.contains(expected), "{refused}");

    let start = async || {
        let input = old::ChangingInput { number: 4 };
        let options = StartOptions::new();
        runtime
            .executions()
            .start::<old::Changing>(input, options)
            .await
    };
    let extended = Arc::new(extended::Changing::new());
    runtime.replace(extended.clone()).unwrap();
    let execution = start().await.unwrap().settled().await.unwrap();
    assert_eq!(answered(&runtime, execution.id()).await.unwrap(), 1041);
    let execution = execution.refreshed().await.unwrap();
    let output = execution.output::<old::Changing>().unwrap();
    assert_eq!(output.unwrap().last, 1041);

    // With both kept, the caller is told what is missing.
    runtime.add_version(new).unwrap();
    let error = start().await.unwrap_err().to_string();
    assert!(error.contains("`more`"), "{error}");
    runtime.add_version(extended).unwrap();
    start().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn versions_are_loaded_from_the_store() {
    let store = store();
    let first = runtime(store.clone(), old::Changing::new());
    let waiting = [start(&first).await.unwrap(), start(&first).await.unwrap()];
    let waiting = waiting.map(|execution| execution.id());
    first.shut_down().await;

    // What no process can load goes on with the newest version if that fits, or is told why not.
    let broken = options().load_versions(|_| Err::<old::Changing, _>("node `first` is gone"));
    let second = Runtime::with_options(store.clone(), broken);
    second.register(renamed::Changing::new()).unwrap();
    let error = answered(&second, waiting[0]).await.unwrap_err();
    let RuntimeError::FlowChanged { changes, .. } = &error else {
        panic!("{error}")
    };
    assert_eq!(
        changes.last().unwrap(),
        "the version on which it started cannot be loaded: node `first` is gone"
    );
    second.shut_down().await;

    let loads = Arc::new(AtomicUsize::new(0));
    let counted = loads.clone();
    let load = move |structure: &str| {
        counted.fetch_add(1, Ordering::Relaxed);
        let old = old::Changing::new();
        let is_old = structure == AnyFlow::<Durable>::structure(&old);
        is_old.then_some(old).ok_or("another flow")
    };
    let third = Runtime::with_options(store.clone(), options().load_versions(load));
    third.register(renamed::Changing::new()).unwrap();
    for id in waiting {
        assert_eq!(answered(&third, id).await.unwrap(), 41);
    }
    assert_eq!(loads.load(Ordering::Relaxed), 1);
    let new = start(&third).await.unwrap().id();
    assert_ne!(
        structure(&store, new).await,
        structure(&store, waiting[0]).await
    );
    // Executions do not need the newest version to fit, since theirs can be loaded.
    third.replace(Arc::new(old::Changing::new())).unwrap();
    // Callers do.
    let more = Arc::new(more_inputs::Changing::new());
    let refused = third.replace(more).unwrap_err();
    let RuntimeError::BreakingVersion { changes, .. } = &refused else {
        panic!("{refused}")
    };
    assert_eq!(changes.len(), 1, "{refused}");
}

#[tokio::test(start_paused = true)]
async fn a_flow_loaded_as_another_version_is_not_taken() {
    let store = store();
    let first = runtime(store.clone(), old::Changing::new());
    let id = start(&first).await.unwrap().id();
    first.shut_down().await;
    let load = |_: &str| Ok::<_, &str>(renamed::Changing::new());
    let second = Runtime::with_options(store, options().load_versions(load));
    second.register(extended::Changing::new()).unwrap();
    // The newest one fits.
    assert_eq!(answered(&second, id).await.unwrap(), 1041);
}

#[tokio::test(start_paused = true)]
async fn earlier_versions_are_forgotten_when_no_execution_needs_them() {
    let runtime = runtime(store(), old::Changing::new());
    let owned = runtime.owned_by("ann");
    let input = json!({ "number": 4 });
    let of_ann = owned.start_json("Changing", input, StartOptions::new());
    let of_ann = of_ann.await.unwrap().settled().await.unwrap();
    let id = start(&runtime).await.unwrap().id();
    runtime
        .add_version(Arc::new(renamed::Changing::new()))
        .unwrap();
    assert_eq!(runtime.forget_versions("Changing").await.unwrap(), 0);

    owned.cancel(of_ann.id(), "cancelled").await.unwrap();
    assert_eq!(runtime.forget_versions("Changing").await.unwrap(), 0);
    assert_eq!(answered(&runtime, id).await.unwrap(), 41);
    assert!(runtime.executions().state(id, 1).await.is_ok());
    assert_eq!(runtime.forget_versions("Changing").await.unwrap(), 1);
    assert_eq!(runtime.forget_versions("Changing").await.unwrap(), 0);
    assert_eq!(runtime.forget_versions("Unknown").await.unwrap(), 0);
    let error = runtime.executions().copy(id, 1).await.unwrap_err();
    assert!(matches!(error, RuntimeError::FlowChanged { .. }), "{error}");
    let state = runtime.executions().state(id, 1).await.unwrap();
    assert_eq!(state.source, StateSource::Journal);
    start(&runtime).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_running_execution_keeps_its_version() {
    let gate = Gate::closed();
    let runtime = runtime(store(), stops(&gate, 1));
    let input = json!({ "number": 1 });
    let starting = runtime
        .executions()
        .start_json("Stops", input, StartOptions::new());
    let execution = starting.await.unwrap();
    pass(minutes(1)).await;
    runtime.add_version(Arc::new(Unused("Stops"))).unwrap();
    assert_eq!(runtime.forget_versions("Stops").await.unwrap(), 0);
    gate.open();
    let execution = execution.settled().await.unwrap();
    assert_eq!(execution.output_json().unwrap().unwrap()["passed"], 3);
    assert_eq!(runtime.forget_versions("Stops").await.unwrap(), 1);
}

#[tokio::test(start_paused = true)]
async fn other_settings_take_the_place_of_the_same_version() {
    let (gate, other) = (Gate::closed(), Gate::closed());
    let store = store();
    let first = runtime(store.clone(), stops(&gate, 1));
    let input = json!({ "number": 1 });
    let starting = first
        .executions()
        .start_json("Stops", input, StartOptions::new());
    let id = starting.await.unwrap().id();
    pass(minutes(1)).await;
    first.shut_down().await;

    let second = runtime(store, stops(&gate, 1));
    second.replace(Arc::new(stops(&other, 10))).unwrap();
    assert_eq!(second.forget_versions("Stops").await.unwrap(), 0);
    other.open();
    second.recover().await.unwrap();
    let execution = second
        .executions()
        .get(id)
        .await
        .unwrap()
        .settled()
        .await
        .unwrap();
    assert_eq!(execution.output_json().unwrap().unwrap()["passed"], 12);
}

#[tokio::test(start_paused = true)]
async fn a_retired_flow_finishes_and_does_not_start() {
    let runtime = runtime(store(), old::Changing::new());
    let id = start(&runtime).await.unwrap().id();
    runtime.retire("Changing").unwrap();
    for error in [
        start(&runtime).await.unwrap_err(),
        runtime.retire("Changing").unwrap_err(),
    ] {
        let expected = matches!(error, RuntimeError::NotRegistered { .. });
        assert!(expected, "{error}");
    }
    assert_eq!(answered(&runtime, id).await.unwrap(), 41);
    // What was breaking is not, since nothing starts.
    let breaking = Arc::new(more_inputs::Changing::new());
    runtime.replace(breaking).unwrap();
    let error = start(&runtime).await.unwrap_err().to_string();
    assert!(error.contains("`more`"), "{error}");
    let again = runtime.register(old::Changing::new()).unwrap_err();
    assert!(matches!(again, RuntimeError::AlreadyRegistered { .. }));
}

/// An execution of a flow whose first step is recorded, of a process that is gone.
async fn left() -> (Shared, ExecutionId) {
    let store = store();
    let first = runtime(store.clone(), old::Changing::new());
    let id = start(&first).await.unwrap().id();
    let token = first
        .executions()
        .get(id)
        .await
        .unwrap()
        .questions()
        .await
        .unwrap()[0]
        .token();
    let (answer, shut_down) = (json!({ "yes": true }), first.shut_down());
    shut_down.await;
    first.executions().resume(token, answer).await.unwrap();
    (store, id)
}

#[tokio::test(start_paused = true)]
async fn what_could_not_go_on_does_when_its_version_is_there() {
    let (store, id) = left().await;
    let second = runtime(store, renamed::Changing::new());
    let recovered = second.recover().await.unwrap();
    assert_eq!(recovered.refused.len(), 1, "{recovered:?}");
    second.add_version(Arc::new(old::Changing::new())).unwrap();
    pass(minutes(1)).await;
    let execution = second.executions().get(id).await.unwrap();
    assert_eq!(execution.status(), Status::Completed);
    assert_eq!(execution.output_json().unwrap().unwrap()["last"], 41);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn each_execution_has_one_version_if_flows_are_replaced_while_others_start() {
    mod one {
        use super::*;

        #[node(writes = sum)]
        async fn step(number: &u64) -> u64 {
            tokio::task::yield_now().await;
            number + 1
        }

        flow! {
            pub(crate) Racing(number: u64) -> (sum: u64) {
                start >> step >> end;
            }
        }
    }
    mod two {
        use super::*;

        #[node(writes = half)]
        async fn begin(number: &u64) -> u64 {
            tokio::task::yield_now().await;
            number + 10
        }

        #[node(writes = sum)]
        async fn finish(half: &u64) -> u64 {
            tokio::task::yield_now().await;
            half + 10
        }

        flow! {
            pub(crate) Racing(number: u64) -> (sum: u64) {
                start >> begin >> finish >> end;
            }
        }
    }
    let runtime = Runtime::new(store());
    runtime.register(one::Racing::new()).unwrap();
    let replacing = runtime.clone();
    let replacing = tokio::spawn(async move {
        for turn in 0..400 {
            match turn % 4 {
                0 => replacing.add_version(Arc::new(two::Racing::new())).unwrap(),
                2 => replacing.add_version(Arc::new(one::Racing::new())).unwrap(),
                _ => drop(replacing.forget_versions("Racing").await.unwrap()),
            }
            tokio::task::yield_now().await;
        }
    });
    let starting = (0..8).map(|_| {
        let runtime = runtime.clone();
        tokio::spawn(async move {
            let mut seen = [0, 0];
            for _ in 0..50 {
                let input = one::RacingInput { number: 0 };
                let started = runtime
                    .executions()
                    .start::<one::Racing>(input, StartOptions::new());
                let execution = started.await.unwrap().settled().await.unwrap();
                let sum = execution.output_json().unwrap().unwrap()["sum"].as_u64();
                let journal = execution.journal().await.unwrap();
                let outcomes = journal.iter().filter(|it| it.kind == RecordKind::Outcome);
                match (sum, outcomes.count()) {
                    (Some(1), 1) => seen[0] += 1,
                    (Some(20), 2) => seen[1] += 1,
                    other => panic!("{other:?}: {journal:?}"),
                }
            }
            seen
        })
    });
    for starting in starting.collect::<Vec<_>>() {
        starting.await.unwrap();
    }
    replacing.await.unwrap();
}
