//! Types of stored values that have changed since: a variant that has another name, a field more. The
//! execution stops with an error that says where, keeps all that is recorded, and continues with a
//! program that has the type again.

use std::num::NonZeroUsize;
use std::sync::Arc;

use flow_durable::{Durable, Runtime, RuntimeError, StartOptions, Status};
use flow_runtime::engine::AnyFlow;
use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::changed::Go;
use crate::support::{Shared, minutes, options, pass, seen, store};

macro_rules! version {
    ($module:ident: $variant:ident / $label:literal { $($field:ident: $type:ty),* }) => {
        mod $module {
            use super::*;

            #[derive(Debug, Clone, Serialize, Deserialize)]
            pub(crate) enum Kind {
                Plain,
                $variant { $($field: $type),* },
            }

            #[derive(Debug, Clone, Action, Serialize, Deserialize)]
            enum Choice {
                Small,
                $variant { $($field: $type),* },
            }

            #[derive(Debug, Clone, Serialize, Deserialize)]
            #[node(human = "Well?")]
            enum Reply {
                Yes,
                $variant { $($field: $type),* },
            }

            #[node]
            fn say(kind: &Kind, go: &Go) -> String {
                format!("{kind:?} {}", go.yes)
            }

            #[node]
            fn say_all(kinds: &[Kind], go: &Go) -> String {
                format!("{kinds:?} {}", go.yes)
            }

            #[node]
            fn say_size(size: &u64, go: &Go) -> String {
                format!("{size} {}", go.yes)
            }

            #[node(writes = kind)]
            fn make(value: &Value) -> Result<Kind, serde_json::Error> {
                serde_json::from_value(value.clone())
            }

            #[node(actions = Choice)]
            fn choose(value: &Value) -> Result<Choice, serde_json::Error> {
                serde_json::from_value(value.clone())
            }

            #[node(writes = begun)]
            fn begin(number: &u64) -> u64 {
                *number
            }

            #[node]
            fn one(kind: &Kind, go: &Go) -> String {
                format!("{kind:?} {}", go.yes)
            }

            flow! {
                pub(crate) Inputs(kind: Kind) -> (say: String) {
                    start >> Go >> say >> end;
                }
            }

            flow! {
                pub(crate) Results(value: Value) -> (say: String) {
                    start >> make >> Go >> say >> end;
                }
            }

            flow! {
                pub(crate) Items(kinds: Vec<Kind>) -> (each: Vec<String>) {
                    node each: for kind in kinds { one };
                    start >> Go >> each >> end;
                }
            }

            flow! {
                pub(crate) Made(values: Vec<Value>) -> (say_all: String) {
                    node kinds: for value in values { make };
                    start >> kinds >> Go >> say_all >> end;
                }
            }

            flow! {
                pub(crate) Actions(value: Value) -> (say_size: Option<String>) {
                    start >> choose;
                    choose - "small" >> end("small");
                    choose - $label >> Go >> say_size >> end;
                }
            }

            flow! {
                pub(crate) Answers(number: u64) -> (say_size: Option<String>) {
                    start >> begin >> Reply;
                    Reply - "yes" >> end("yes");
                    Reply - $label >> Go >> say_size >> end;
                }
            }

            pub(crate) fn flows() -> Vec<Arc<dyn AnyFlow<Durable>>> {
                vec![
                    Arc::new(Inputs::new()),
                    Arc::new(Results::new()),
                    Arc::new(Items::new()),
                    Arc::new(Made::new()),
                    Arc::new(Actions::new()),
                    Arc::new(Answers::new()),
                ]
            }
        }
    };
}

version! { whole: Sized / "sized" { size: u64 } }
version! { renamed: Measured / "measured" { size: u64 } }
version! { stricter: Sized / "sized" { size: u64, unit: String } }

fn process(store: &Shared, flows: Vec<Arc<dyn AnyFlow<Durable>>>, snapshots: bool) -> Runtime {
    let mut options = options();
    if snapshots {
        options = options.snapshot_every(NonZeroUsize::MIN);
    }
    let runtime = Runtime::with_options(store.clone(), options);
    for flow in flows {
        runtime.register(flow).unwrap();
    }
    runtime
}

/// The flow, its input, the output, and one of what an error about its stored value names: the step or
/// the key.
fn cases() -> [(&'static str, Value, Value, &'static [&'static str]); 6] {
    let sized = json!({ "Sized": { "size": 7 } });
    let said = "Sized { size: 7 } true";
    [
        (
            "Inputs",
            json!({ "kind": sized }),
            json!({ "say": said }),
            &["kind"],
        ),
        (
            "Results",
            json!({ "value": sized }),
            json!({ "say": said }),
            &["make", "kind"],
        ),
        (
            "Items",
            json!({ "kinds": [sized] }),
            json!({ "each": [said] }),
            &["kinds"],
        ),
        (
            "Made",
            json!({ "values": [sized] }),
            json!({ "say_all": "[Sized { size: 7 }] true" }),
            &["kinds"],
        ),
        (
            "Actions",
            json!({ "value": sized }),
            json!({ "say_size": "7 true" }),
            &["choose"],
        ),
        (
            "Answers",
            json!({ "number": 1 }),
            json!({ "say_size": "7 true" }),
            &["reply"],
        ),
    ]
}

#[tokio::test(start_paused = true)]
async fn a_type_that_has_changed_stops_the_execution_and_loses_nothing() {
    let changed = || {
        [
            ("renamed", renamed::flows()),
            ("stricter", stricter::flows()),
        ]
    };
    for snapshots in [false, true] {
        // A snapshot has the values of keys, and neither actions nor answers.
        let is_stored = |name: &str| !snapshots || !["Actions", "Answers"].contains(&name);
        for (name, input, output, names) in cases().into_iter().filter(|case| is_stored(case.0)) {
            for (version, flows) in changed() {
                let case = format!("{name}, {version}, snapshots: {snapshots}");
                let store = store();
                let first = process(&store, whole::flows(), snapshots);
                let started =
                    first
                        .executions()
                        .start_json(name, input.clone(), StartOptions::new());
                let id = started.await.unwrap().settled().await.unwrap().id();
                if name == "Answers" {
                    let token = first
                        .executions()
                        .get(id)
                        .await
                        .unwrap()
                        .questions()
                        .await
                        .unwrap()[0]
                        .token();
                    let answer = json!({ "Sized": { "size": 7 } });
                    first
                        .executions()
                        .resume(token, answer)
                        .await
                        .unwrap()
                        .settled()
                        .await
                        .unwrap();
                }
                let before = seen(&first, id).await;
                assert_eq!(before.0, Status::Paused, "{case}");
                first.shut_down().await;

                let second = process(&store, flows, snapshots);
                second.recover().await.unwrap();
                let checked = second.check_executions().await.unwrap();
                let checked: Vec<_> = checked.iter().map(|(id, _)| *id).collect();
                let resumed = second
                    .executions()
                    .resume(before.2[0], json!({ "yes": true }))
                    .await;
                let is_taken = resumed.is_ok();
                let ended = match resumed {
                    Ok(execution) => execution.settled().await.map(drop),
                    Err(error) => Err(error),
                };
                says_where(&case, &ended.unwrap_err(), names);
                pass(minutes(10)).await;
                let after = seen(&second, id).await;
                assert_eq!(&after.1[..before.1.len()], before.1, "{case}");
                assert_eq!(checked, if is_taken { vec![] } else { vec![id] }, "{case}");
                if !is_taken {
                    assert_eq!(after, before, "{case}");
                }
                second.shut_down().await;

                let third = process(&store, whole::flows(), snapshots);
                assert!(third.recover().await.unwrap().refused.is_empty(), "{case}");
                if !is_taken {
                    let resumed = third
                        .executions()
                        .resume(before.2[0], json!({ "yes": true }))
                        .await;
                    resumed.unwrap();
                }
                let ended = third
                    .executions()
                    .get(id)
                    .await
                    .unwrap()
                    .settled()
                    .await
                    .unwrap();
                let mut ended = ended.output_json().unwrap().unwrap();
                ended.as_object_mut().unwrap().remove("end");
                assert_eq!(ended, output, "{case}");
            }
        }
    }
}

#[track_caller]
fn says_where(case: &str, error: &RuntimeError, names: &[&str]) {
    let text = error.to_string();
    assert!(
        names.iter().any(|name| text.contains(name)),
        "{case}: {text}"
    );
    assert!(!text.contains("panicked"), "{case}: {text}");
}

flow_law::law! {
    nodes: [],
    flows: [],
    left_out: [
        whole::Inputs, whole::Results, whole::Items, whole::Made, whole::Actions, whole::Answers,
        renamed::Inputs, renamed::Results, renamed::Items, renamed::Made, renamed::Actions, renamed::Answers,
        stricter::Inputs, stricter::Results, stricter::Items, stricter::Made, stricter::Actions, stricter::Answers,
    ],
}
