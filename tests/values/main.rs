//! The law of stored values: wherever a value comes in, a durable run either goes on with the same value
//! as a plain run, also after a recovery from a snapshot, or it is refused there, with the reason.
//!
//! Many types, each as an input, as the result of a step, as a field of an action, as a field of an
//! answer, and as an item of a loop that runs in parts.

mod errors;
mod reasons;
mod types;

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use flow_durable::{
    DurableFlow, Execution, MemoryStore, Runtime, RuntimeError, RuntimeOptions, StartOptions,
    Status,
};
use flow_runtime::Submission;

/// What became of a value.
#[derive(Debug, PartialEq)]
enum Fate {
    /// It was shown like this.
    Shown(String),
    /// It was refused with this reason.
    Refused(String),
}

impl Fate {
    /// The law, for a value that a plain run shows like this.
    fn holds(&self, what: &str, plain: &str) {
        match self {
            Fate::Shown(shown) => assert_eq!(shown, plain, "{what}"),
            Fate::Refused(reason) => {
                let says = [
                    "JSON",
                    "survive",
                    "is written as",
                    "cannot be stored",
                    "invalid",
                    "missing",
                    "key must be a string",
                ];
                assert!(
                    says.iter().any(|word| reason.contains(word)),
                    "{what}: {reason}"
                );
            }
        }
    }
}

/// A store, and a runtime that takes a snapshot before each node and forgets what was before.
fn runtime<F: DurableFlow>(store: &Arc<MemoryStore>, flow: F) -> Runtime {
    let began = tokio::time::Instant::now();
    let options = RuntimeOptions::new()
        .clock(move || UNIX_EPOCH + Duration::from_secs(1_800_000_000) + began.elapsed())
        .snapshot_every(NonZeroUsize::MIN)
        .prune_history();
    let runtime = Runtime::with_options(store.clone(), options);
    runtime.register(flow).unwrap();
    runtime
}

fn refused(error: &RuntimeError) -> Fate {
    Fate::Refused(error.to_string())
}

/// Runs a flow that waits for 20 seconds. If `stops`, the process is another one after 10.
async fn durable<F: DurableFlow>(
    new: fn() -> F,
    input: F::Input,
    answer: Option<impl Submission>,
    stops: bool,
) -> Fate {
    let store = Arc::new(MemoryStore::new());
    let mut on = runtime(&store, new());
    let started = on.executions().start::<F>(input, StartOptions::new()).await;
    let mut execution: Execution = match started {
        Ok(execution) => execution,
        Err(error) => return refused(&error),
    };
    if let Some(answer) = answer {
        execution = match execution.settled().await {
            Ok(execution) => execution,
            Err(error) => return refused(&error),
        };
        let questions = execution.questions().await.unwrap();
        if let Err(error) = on.executions().resume(questions[0].token(), answer).await {
            return refused(&error);
        }
    }
    if stops {
        tokio::time::sleep(Duration::from_secs(10)).await;
        on.shut_down().await;
        on = runtime(&store, new());
        on.recover().await.unwrap();
        execution = on.executions().get(execution.id()).await.unwrap();
    }
    let settled = match execution.settled().await {
        Ok(settled) => settled,
        Err(error) => return refused(&error),
    };
    assert_eq!(
        settled.status(),
        Status::Completed,
        "{:?}",
        settled.reason()
    );
    let output = settled.output_json().unwrap().unwrap();
    Fate::Shown(output["shown"].as_str().unwrap().to_owned())
}

/// Puts the values of a type under the law. `refused` says which of them JSON cannot say, by their
/// numbers from 0.
macro_rules! law {
    ($($name:ident: $type:ty = [$($value:expr),* $(,)?], refused $refused:expr;)*) => {
        $(mod $name {
            use flow_runtime::prelude::*;
            use serde::{Deserialize, Serialize};
            use crate::types::*;
            use crate::{Fate, durable};

            type Value = $type;

            fn values() -> Vec<Value> {
                vec![$($value),*]
            }

            fn value(number: &usize) -> Value {
                values().swap_remove(*number)
            }

            #[node]
            fn shown(v: &Value) -> String {
                show(v)
            }

            #[node(writes = v)]
            fn make(number: &usize) -> Value {
                value(number)
            }

            #[derive(Action, Serialize, Deserialize)]
            enum Act {
                Taken { v: Value },
            }

            #[node(actions = Act)]
            fn act(number: &usize) -> Act {
                Act::Taken { v: value(number) }
            }

            #[node(human = "Which?")]
            #[derive(Serialize, Deserialize)]
            enum Said {
                This { v: Value },
            }

            #[node(writes = list)]
            fn list(number: &usize) -> Vec<Value> {
                vec![value(number), value(number), value(number)]
            }

            #[node(writes = copied)]
            fn copy(item: &Value) -> String {
                show(item)
            }

            #[node(writes = shown)]
            fn all(copies: &[String]) -> String {
                assert!(copies.iter().all(|copy| *copy == copies[0]));
                copies[0].clone()
            }

            flow! {
                Given(v: Value) -> (shown: String) {
                    start >> wait(20s) >> shown >> end;
                }
            }

            flow! {
                Made(number: usize, place: Place) -> (shown: String) {
                    node copies: for item in list { copy } with spread(1);
                    branch which(place) {
                        *place == Place::Result => "result",
                        *place == Place::Action => "action",
                        *place == Place::Answer => "answer",
                        else => "items",
                    }
                    start >> which;
                    which - "result" >> make >> wait(20s) >> shown;
                    which - "action" >> act - "taken" >> wait(20s) >> shown;
                    which - "answer" >> Said - "this" >> wait(20s) >> shown;
                    which - "items" >> list >> wait(20s) >> copies >> all >> end;
                    shown >> end;
                }
            }

            #[tokio::test(start_paused = true)]
            async fn holds() {
                let refused: &[usize] = &$refused;
                for number in 0..values().len() {
                    let name = stringify!($name);
                    let input = GivenInput { v: value(&number) };
                    let plain = Given::new().run(input).await.unwrap().shown;
                    for stops in [false, true] {
                        let what = |place| format!("{name} {number} as {place}, stops: {stops}");
                        let given = GivenInput { v: value(&number) };
                        let input = durable(Given::new, given, None::<Json>, stops).await;
                        let mut fates = vec![("input", input)];
                        for place in Place::ALL {
                            let said = Said::This { v: value(&number) };
                            let said = (place == Place::Answer).then_some(said);
                            let made = MadeInput { number, place };
                            let fate = durable(Made::new, made, said, stops).await;
                            fates.push((place.name(), fate));
                        }
                        for (place, fate) in fates {
                            fate.holds(&what(place), &plain);
                            let is_refused = matches!(fate, Fate::Refused(_));
                            assert_eq!(is_refused, refused.contains(&number), "{}: {fate:?}", what(place));
                        }
                    }
                }
            }
        })*
    };
}

law! {
    truths: bool = [true, false], refused [];
    signed: i64 = [i64::MIN, i64::MAX], refused [];
    wide: i128 = [i128::from(u64::MAX), i128::from(i64::MIN), i128::MAX], refused [2];
    wider: u128 = [7, u128::from(u64::MAX) + 1], refused [1];
    single: f32 = [0.1, -0.0, f32::MIN_POSITIVE, f32::NAN, f32::INFINITY], refused [3, 4];
    double: f64 = [0.1, -0.0, 5e-324, f64::MAX, f64::NAN, f64::NEG_INFINITY], refused [4, 5];
    text: String = [String::new(), "null".to_owned(), "\u{1}\n\\".to_owned()], refused [];
    nothing: () = [()], refused [];
    maybe: Option<f64> = [None, Some(1.5), Some(f64::NAN), Some(f64::INFINITY)], refused [2, 3];
    maybe_nothing: Option<()> = [None, Some(())], refused [1];
    twice_maybe: Option<Option<u8>> = [None, Some(Some(1)), Some(None)], refused [2];
    list_of_maybe: Vec<Option<f64>> = [vec![], vec![None, Some(1.0)], vec![Some(f64::NAN)]], refused [2];
    bytes: Vec<u8> = [vec![0, 255]], refused [];
    pair: (u8, Option<f32>) = [(1, None), (1, Some(0.1)), (1, Some(f32::NAN))], refused [2];
    outcome: Outcome = [Outcome(Ok(1.0)), Outcome(Err(None)), Outcome(Ok(f64::NAN)), Outcome(Err(Some(())))], refused [2, 3];
    by_text: BTreeMap<String, Option<f64>> = [
        BTreeMap::from([("a".to_owned(), None)]),
        BTreeMap::from([("a".to_owned(), Some(f64::NAN))]),
    ], refused [1];
    by_number: BTreeMap<i64, u8> = [BTreeMap::from([(-1, 1), (1, 2)])], refused [];
    by_truth: BTreeMap<bool, u8> = [BTreeMap::from([(true, 1), (false, 2)])], refused [];
    by_variant: BTreeMap<Color, u8> = [BTreeMap::from([(Color::Red, 1), (Color::Blue, 2)])], refused [];
    by_pair: BTreeMap<(u8, u8), u8> = [BTreeMap::new(), BTreeMap::from([((1, 2), 3)])], refused [1];
    by_loose_key: BTreeMap<Loose, u8> = [
        BTreeMap::from([(Loose::Text("a".to_owned()), 1)]),
        BTreeMap::from([(Loose::Number(1), 1), (Loose::Text("1".to_owned()), 2)]),
    ], refused [1];
    hashed: HashMap<String, HashSet<u8>> = [HashMap::from([("a".to_owned(), HashSet::from([1]))])], refused [];
    duration: Duration = [Duration::ZERO, Duration::new(1, 999_999_999)], refused [];
    time: SystemTime = [SystemTime::UNIX_EPOCH + Duration::from_nanos(1)], refused [];
    non_zero: Option<NonZeroU32> = [None, NonZeroU32::new(1)], refused [];
    json: Json = [Json::Null, json!({ "a": [1, null, -0.0, 1e300, u64::MAX] })], refused [];
    maybe_json: Option<Json> = [None, Some(json!(1)), Some(Json::Null)], refused [2];
    raw_json: Box<RawValue> = [raw("{\"a\":1}"), raw("{ \"a\": 1 }"), raw("12345678901234567890123")], refused [1, 2];
    plain: Plain = [Plain { a: 1, b: None }, Plain { a: 1, b: Some(f64::NAN) }], refused [1];
    maybe_unit: Option<Unit> = [None, Some(Unit)], refused [1];
    wrapped: Wrapped = [Wrapped(None), Wrapped(Some(f64::NAN))], refused [1];
    maybe_wrapped: Option<Wrapped> = [None, Some(Wrapped(Some(1.0))), Some(Wrapped(None))], refused [2];
    external: External = [
        External::Unit, External::Of(None), External::Two(1, None), External::Named { a: Some(1.0) },
        External::Of(Some(())), External::Two(1, Some(None)), External::Named { a: Some(f64::NAN) },
    ], refused [4, 5, 6];
    internal: Internal = [Internal::Unit, Internal::Named { a: 0.5 }, Internal::Named { a: f64::NAN }], refused [2];
    adjacent: Adjacent = [Adjacent::Unit, Adjacent::Of(None), Adjacent::Of(Some(()))], refused [2];
    untagged: Untagged = [
        Untagged::Number(1), Untagged::Text("1".to_owned()), Untagged::Float(1.5), Untagged::Optional { a: None, b: None },
        Untagged::Single { a: 1 },
    ], refused [4];
    flat: Flat = [
        Flat { a: 1, rest: BTreeMap::from([("b".to_owned(), 2)]) },
        Flat { a: 1, rest: BTreeMap::from([("a".to_owned(), 2)]) },
    ], refused [1];
    flat_numbers: FlatNumbers = [
        FlatNumbers { a: 1, rest: BTreeMap::new() }, FlatNumbers { a: 1, rest: BTreeMap::from([(1, 2)]) },
    ], refused [1];
    flat_maybe: FlatMaybe = [FlatMaybe { a: 1, rest: Some(Rest { b: Some(2) }) }, FlatMaybe { a: 1, rest: None }], refused [1];
    left_out: LeftOut = [LeftOut { a: 1 }, LeftOut { a: 0 }], refused [1];
    trimmed: Trimmed = [Trimmed("a".to_owned()), Trimmed(" a".to_owned())], refused [1];
}
