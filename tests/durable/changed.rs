//! Executions of flows that have changed since: they go on if what is recorded still fits, and are
//! refused if not.

use std::num::NonZeroUsize;

use flow_durable::{
    Created, Execution, ExecutionId, JOURNAL_FORMAT, RecordKind, Runtime, RuntimeError,
    StartOptions, Status, Store as _, Token,
};
use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::gates::Gate;
use crate::support::{Shared, minutes, options, outcomes, pass, runtime, seen, store};

/// Whether to go on.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[node(human = "Go on?")]
pub(crate) struct Go {
    pub(crate) yes: bool,
}

#[node]
fn first(number: &u64) -> u64 {
    number + 1
}

#[node]
fn begin(number: &u64) -> u64 {
    number + 2
}

#[node(writes = last)]
fn last(number: &u64, go: &Go) -> u64 {
    number * 10 + u64::from(go.yes)
}

#[node(writes = last)]
fn extra(last: &u64) -> u64 {
    last + 1000
}

pub(crate) mod old {
    use super::*;

    flow! {
        pub(crate) Changing(number: u64) -> (last: u64) {
            start >> first >> Go >> last >> end;
        }
    }
}

pub(crate) mod extended {
    use super::*;

    flow! {
        pub(crate) Changing(number: u64) -> (last: u64) {
            start >> first >> Go >> last >> extra >> end;
        }
    }
}

/// Stands in for `last`.
#[node(writes = last)]
fn other_last(number: &u64, go: &Go) -> u64 {
    number * 100 + u64::from(go.yes)
}

mod replaced {
    use super::*;

    flow! {
        pub(crate) Changing(number: u64) -> (last: u64) {
            node last: other_last;
            start >> first >> Go >> last >> end;
        }
    }
}

mod without_last {
    use super::*;

    flow! {
        pub(crate) Changing(number: u64) -> (last: u64) {
            start >> first >> Go >> other_last >> end;
        }
    }
}

mod replaced_before {
    use super::*;

    flow! {
        pub(crate) Changing(number: u64) -> (last: u64) {
            node first: begin;
            start >> first >> Go >> last >> end;
        }
    }
}

pub(crate) mod renamed {
    use super::*;

    flow! {
        pub(crate) Changing(number: u64) -> (last: u64) {
            node asks: human Go;
            start >> begin >> asks >> last >> end;
        }
    }
}

fn number() -> old::ChangingInput {
    old::ChangingInput { number: 4 }
}

async fn paused() -> (Shared, Execution) {
    let store = store();
    let runtime = runtime(store.clone(), old::Changing::new());
    let execution = crate::support::settled::<old::Changing>(&runtime, number()).await;
    assert_eq!(execution.status(), Status::Paused);
    (store, execution)
}

/// What becomes of one whose question is answered.
async fn resumed(runtime: &Runtime, token: Token, yes: bool) -> Result<Execution, RuntimeError> {
    let answer = json!({ "yes": yes });
    let execution = runtime.executions().resume(token, answer).await.unwrap();
    execution.settled().await
}

#[tokio::test(start_paused = true)]
async fn a_flow_that_has_grown_goes_on() {
    let (store, execution) = paused().await;
    let before = store.execution_row(execution.id()).await;
    let runtime = runtime(store.clone(), extended::Changing::new());
    let token = execution.questions().await.unwrap()[0].token();
    let execution = resumed(&runtime, token, true).await.unwrap();
    assert_eq!(
        execution.output_json().unwrap(),
        Some(json!({ "last": 1041, "end": "default" }))
    );
    let after = store.execution_row(execution.id()).await;
    assert_ne!(
        after.structure, before.structure,
        "it is an execution of the new version now"
    );
    assert!(store.structure(&after.structure).await.unwrap().is_some());
}

#[tokio::test(start_paused = true)]
async fn a_node_that_was_not_reached_can_be_another_one() {
    let (store, execution) = paused().await;
    let token = execution.questions().await.unwrap()[0].token();
    let refused = runtime(store.clone(), replaced_before::Changing::new());
    let answer = json!({ "yes": true });
    let error = refused
        .executions()
        .resume(token, answer)
        .await
        .unwrap_err();
    let RuntimeError::FlowChanged { changes, .. } = &error else {
        panic!("{error}")
    };
    assert_eq!(changes[0], "`first` writes `begin` instead of `first`");
    let second = runtime(store, replaced::Changing::new());
    let execution = resumed(&second, token, true).await.unwrap();
    let expected = json!({ "last": 401, "end": "default" });
    assert_eq!(execution.output_json().unwrap(), Some(expected.clone()));

    let (store, execution) = paused().await;
    let token = execution.questions().await.unwrap()[0].token();
    let second = runtime(store, without_last::Changing::new());
    let execution = resumed(&second, token, true).await.unwrap();
    assert_eq!(execution.output_json().unwrap(), Some(expected));
}

/// Does what `first` does.
#[node(writes = first)]
fn get_first(number: &u64) -> u64 {
    number + 1
}

mod of_another_function {
    use super::*;

    flow! {
        pub(crate) Changing(number: u64) -> (last: u64) {
            node first: get_first;
            start >> first >> Go >> last >> end;
        }
    }
}

/// Which function does a step is not the journal's business.
#[tokio::test(start_paused = true)]
async fn a_function_with_another_name_does_the_same_step() {
    let (store, execution) = paused().await;
    let token = execution.questions().await.unwrap()[0].token();
    let second = runtime(store, of_another_function::Changing::new());
    assert!(second.recover().await.unwrap().refused.is_empty());
    let execution = resumed(&second, token, true).await.unwrap();
    let expected = json!({ "last": 41, "end": "default" });
    assert_eq!(execution.output_json().unwrap(), Some(expected));
}

mod preceded {
    use super::*;

    flow! {
        pub(crate) Changing(number: u64) -> (last: u64) {
            start >> begin >> first >> Go >> last >> end;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_cannot_be_used_is_refused_and_the_question_stays_open() {
    let (store, execution) = paused().await;
    let id = execution.id();
    let second = runtime(store.clone(), preceded::Changing::new());
    let before = seen(&second, id).await;
    let checked = second.check_executions().await.unwrap();
    let recovered = second.recover().await.unwrap();
    for refused in [checked, recovered.refused] {
        let [(of, RuntimeError::FlowChanged { changes, .. })] = &refused[..] else {
            panic!("{refused:?}")
        };
        assert_eq!(*of, id, "it is named although it waits");
        let used = "what `changing.first` returned has no use any more";
        assert_eq!(changes.last().unwrap(), used, "{changes:?}");
    }
    let answer = json!({ "yes": true });
    let error = second
        .executions()
        .resume(before.2[0], answer)
        .await
        .unwrap_err();
    assert!(matches!(error, RuntimeError::FlowChanged { .. }), "{error}");
    assert_eq!(seen(&second, id).await, before);
    second.shut_down().await;

    let old = runtime(store, old::Changing::new());
    let execution = resumed(&old, before.2[0], true).await.unwrap();
    assert_eq!(execution.status(), Status::Completed);
}

#[tokio::test(start_paused = true)]
async fn a_flow_that_no_longer_fits_is_refused() {
    let (store, execution) = paused().await;
    let runtime = runtime(store.clone(), renamed::Changing::new());
    let before = seen(&runtime, execution.id()).await;
    let row = store.execution_row(execution.id()).await;
    let error = runtime
        .executions()
        .resume(before.2[0], json!({ "yes": true }))
        .await
        .unwrap_err();
    let text = error.to_string();
    let RuntimeError::FlowChanged {
        execution: id,
        flow,
        changes,
    } = error
    else {
        panic!("{text}")
    };
    assert_eq!((id, &*flow), (execution.id(), "Changing"));
    assert_eq!(
        changes,
        [
            "node `go` was renamed to `asks`",
            "node `first` was renamed to `begin`",
            "`begin` writes `begin` instead of `first`",
        ]
    );
    let expected = format!(
        "execution {id} was started with another version of the flow `Changing`, and its journal no longer fits:\n  {}",
        changes.join("\n  ")
    );
    assert_eq!(text, expected);
    assert_eq!(seen(&runtime, id).await, before);
    assert_eq!(store.execution_row(id).await, row);

    let old = crate::support::runtime(store, old::Changing::new());
    let execution = resumed(&old, before.2[0], false).await.unwrap();
    assert_eq!(
        execution.output::<old::Changing>().unwrap().unwrap().last,
        40
    );
}

mod stopped_after {
    use super::*;
    use crate::gates::Gated;

    flow! {
        pub(crate) Moved(number: u64) -> (passed: u64, first: u64) {
            node gated: Gated;
            start >> first >> gated >> end;
        }
    }
}

mod stopped_before {
    use super::*;
    use crate::gates::Gated;

    flow! {
        pub(crate) Moved(number: u64) -> (passed: u64, first: u64) {
            node gated: Gated;
            start >> gated >> first >> end;
        }
    }
}

mod without {
    use super::*;
    use crate::gates::Gated;

    flow! {
        pub(crate) Moved(number: u64) -> (passed: u64, begin: u64) {
            node gated: Gated;
            start >> begin >> gated >> end;
        }
    }
}

mod with_another_before {
    use super::*;
    use crate::gates::Gated;

    flow! {
        pub(crate) Moved(number: u64) -> (passed: u64, first: u64) {
            node gated: Gated;
            node held: Gated { passed -> held };
            start >> first >> begin >> gated >> held >> end;
        }
    }
}

fn original(gate: &Gate) -> stopped_after::Moved {
    stopped_after::Moved::builder().gated(gate.node(1)).build()
}

/// An execution of it at the gate, in a process that was shut down.
async fn left(gate: &Gate) -> (Shared, ExecutionId) {
    let store = store();
    let first = runtime(store.clone(), original(gate));
    let input = stopped_after::MovedInput { number: 1 };
    let starting = first
        .executions()
        .start::<stopped_after::Moved>(input, StartOptions::new());
    let id = starting.await.unwrap().id();
    pass(minutes(1)).await;
    first.shut_down().await;
    (store, id)
}

/// The process after the second one begins with the snapshot before `begin`, and does not see that the first
/// one had begun `gated`.
#[tokio::test(start_paused = true)]
async fn what_an_earlier_version_had_begun_begins_again_behind_a_snapshot() {
    let (gate, held) = (Gate::closed(), Gate::closed());
    let (store, id) = left(&gate).await;
    let process = || {
        let options = options().snapshot_every(NonZeroUsize::MIN);
        let runtime = Runtime::with_options(store.clone(), options);
        let flow = with_another_before::Moved::builder().gated(gate.node(1));
        runtime.register(flow.held(held.node(1)).build()).unwrap();
        runtime
    };
    let second = process();
    assert!(second.recover().await.unwrap().refused.is_empty());
    gate.open();
    pass(minutes(1)).await;
    second.shut_down().await;
    held.open();
    let third = process();
    assert!(third.recover().await.unwrap().refused.is_empty());
    let execution = third
        .executions()
        .get(id)
        .await
        .unwrap()
        .settled()
        .await
        .unwrap();
    assert_eq!(execution.status(), Status::Completed);
    let journal = execution.journal().await.unwrap();
    let of_gated = journal.iter().filter(|record| record.step == "moved.gated");
    let kinds: Vec<RecordKind> = of_gated.map(|record| record.kind).collect();
    let expected = [
        RecordKind::NodeStarted,
        RecordKind::NodeStarted,
        RecordKind::Outcome,
        RecordKind::NodeFinished,
    ];
    assert_eq!(kinds, expected);
}

#[tokio::test(start_paused = true)]
async fn a_recovery_says_what_it_refuses() {
    let gate = Gate::closed();
    let (store, id) = left(&gate).await;
    let flow = without::Moved::builder().gated(gate.node(1)).build();
    let second = runtime(store, flow);
    let before = seen(&second, id).await;
    let recovered = second.recover().await.unwrap();
    assert!(recovered.resumed.is_empty());
    let [(of, RuntimeError::FlowChanged { changes, .. })] = &recovered.refused[..] else {
        panic!("{recovered:?}")
    };
    assert_eq!((*of, changes.len()), (id, 2), "{changes:?}");
    let error = second
        .executions()
        .get(id)
        .await
        .unwrap()
        .settled()
        .await
        .unwrap_err();
    assert!(matches!(error, RuntimeError::FlowChanged { .. }), "{error}");
    assert_eq!(seen(&second, id).await, before);
}

#[tokio::test(start_paused = true)]
async fn a_flow_in_which_something_recorded_has_no_use_is_refused() {
    let gate = Gate::closed();
    let (store, id) = left(&gate).await;
    let flow = stopped_before::Moved::builder().gated(gate.node(1)).build();
    let second = runtime(store.clone(), flow);
    let before = seen(&second, id).await;
    second.recover().await.unwrap();
    let error = second
        .executions()
        .get(id)
        .await
        .unwrap()
        .settled()
        .await
        .unwrap_err();
    let RuntimeError::FlowChanged { changes, .. } = &error else {
        panic!("{error}")
    };
    assert_eq!(
        changes.last().unwrap(),
        "what `moved.first` returned has no use any more",
        "{changes:?}"
    );
    assert_eq!(seen(&second, id).await, before);
    second.shut_down().await;

    pass(minutes(1)).await;
    gate.open();
    let third = runtime(store, original(&gate));
    third.recover().await.unwrap();
    let execution = third
        .executions()
        .get(id)
        .await
        .unwrap()
        .settled()
        .await
        .unwrap();
    assert_eq!(
        execution.output_json().unwrap(),
        Some(json!({ "passed": 2, "first": 2, "end": "default" }))
    );
}

/// The same with a wait, which is over when it comes to the gate.
macro_rules! waiting {
    ($module:ident, $($path:tt)*) => {
        mod $module {
            use super::*;
            use crate::gates::Gated;

            flow! {
                pub(crate) Delayed(number: u64) -> (passed: u64) {
                    node gated: Gated;
                    start >> $($path)* >> end;
                }
            }
        }
    };
}

waiting!(waits_before, wait(1s) >> gated);
waiting!(waits_after, gated >> wait(1s));

#[tokio::test(start_paused = true)]
async fn a_wait_that_has_no_use_any_more_is_named() {
    let (store, gate) = (store(), Gate::closed());
    let before = waits_before::Delayed::builder().gated(gate.node(1)).build();
    let first = runtime(store.clone(), before);
    let input = waits_before::DelayedInput { number: 1 };
    let starting = first
        .executions()
        .start::<waits_before::Delayed>(input, StartOptions::new());
    let id = starting.await.unwrap().id();
    pass(minutes(1)).await;
    first.shut_down().await;
    let after = waits_after::Delayed::builder().gated(gate.node(1)).build();
    let second = runtime(store, after);
    second.recover().await.unwrap();
    let error = second
        .executions()
        .get(id)
        .await
        .unwrap()
        .settled()
        .await
        .unwrap_err();
    let RuntimeError::FlowChanged { changes, .. } = &error else {
        panic!("{error}")
    };
    assert_eq!(
        changes.last().unwrap(),
        "the time that `delayed.wait` took has no use any more",
        "{changes:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_journal_of_another_format_is_refused_and_can_be_looked_at() {
    let (store, execution) = paused().await;
    let row = store.execution_row(execution.id()).await;
    assert_eq!(row.format, JOURNAL_FORMAT);
    for (format, age) in [
        (JOURNAL_FORMAT - 1, "an older"),
        (JOURNAL_FORMAT + 1, "a newer"),
    ] {
        let id = ExecutionId::from(uuid::Uuid::now_v7());
        let records = execution.journal().await.unwrap();
        let kept = records.clone();
        let other = flow_durable::Row {
            id,
            format,
            status: Status::Running,
            ..row.clone()
        };
        let created = store.create(other, records, Vec::new(), None).await;
        assert_eq!(created.unwrap(), Created::New);

        let runtime = runtime(store.clone(), old::Changing::new());
        let recovered = runtime.recover().await.unwrap();
        let (of, error) = recovered.refused.last().unwrap();
        assert_eq!(*of, id);
        assert_eq!(
            error.to_string(),
            format!(
                "execution {id} has a journal of format {format}, which {age} version of this library wrote; this \
                 one reads format {JOURNAL_FORMAT}"
            )
        );
        let other = runtime.executions().get(id).await.unwrap();
        assert_eq!(other.journal().await.unwrap(), kept);
        runtime.executions().cancel(id, "cancelled").await.unwrap();
        runtime.shut_down().await;
    }
}

/// The same flow, with a value whose type is written the same and stored as this.
macro_rules! of_shape {
    ($module:ident, $key:literal) => {
        mod $module {
            use super::*;

            #[derive(Debug, Clone, Serialize, Deserialize)]
            pub(crate) struct Shape {
                #[serde(rename = $key)]
                size: u64,
            }

            #[node(writes = shape)]
            fn make(number: &u64) -> Shape {
                Shape { size: number * 2 }
            }

            #[node(writes = last)]
            fn measure(shape: &Shape) -> u64 {
                shape.size
            }

            flow! {
                pub(crate) Shapes(number: u64) -> (last: u64) {
                    start >> make >> Go >> measure >> end;
                }
            }
        }
    };
}

of_shape!(as_size, "size");
of_shape!(as_length, "length");

#[tokio::test(start_paused = true)]
async fn a_value_that_is_stored_in_another_form_is_refused() {
    let store = store();
    let first = runtime(store.clone(), as_size::Shapes::new());
    let execution =
        crate::support::settled::<as_size::Shapes>(&first, as_size::ShapesInput { number: 4 })
            .await;
    let token = execution.questions().await.unwrap()[0].token();
    let second = runtime(store.clone(), as_length::Shapes::new());
    let answer = json!({ "yes": true });
    let error = second.executions().resume(token, answer).await.unwrap_err();
    let text = error.to_string();
    let RuntimeError::Unreadable {
        execution: id,
        path,
        reason,
    } = error
    else {
        panic!("{text}")
    };
    assert_eq!((id, &*path), (execution.id(), "shapes.make"));
    assert_eq!(
        reason,
        "the recorded value is not a `Shape`: missing field `length`"
    );
    assert_eq!(text, format!("execution {id} at `shapes.make`: {reason}"));
    let stood = second.executions().get(id).await.unwrap();
    assert_eq!(stood.status(), Status::Paused);
    assert_eq!(stood.questions().await.unwrap()[0].token(), token);
    assert_eq!(outcomes(&stood.journal().await.unwrap()).len(), 1);
    second.shut_down().await;
    drop(second);

    pass(minutes(1)).await;
    let execution = resumed(&first, token, true).await.unwrap();
    assert_eq!(
        execution.output::<as_size::Shapes>().unwrap().unwrap().last,
        8
    );
}

/// What is stored of an execution.
pub(crate) trait Rows {
    async fn execution_row(&self, id: ExecutionId) -> flow_durable::Row;
}

impl Rows for Shared {
    async fn execution_row(&self, id: ExecutionId) -> flow_durable::Row {
        flow_durable::Store::execution(self, id)
            .await
            .unwrap()
            .unwrap()
    }
}
