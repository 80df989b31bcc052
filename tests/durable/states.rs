//! The state of an execution for a process that does not have its flow.

use std::num::NonZeroUsize;

use flow_durable::{
    DurableFlow, Execution, ExecutionState, Record, RecordKind, Runtime, RuntimeError, StateSource,
};
use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::flows::{
    Doubled, DoubledInput, Fallback, Forks, ForksInput, Items, ItemsInput, Nested, NestedInput,
    Party, PartyInput, Rounds, RoundsInput, Waits, WaitsInput,
};
use crate::stores::{Damage, Damaged, Faulty};
use crate::support::{options, runtime, settled, store};

/// Whether the values of a flow according to a replay are among those found by the journal, and which
/// keys are unknown.
fn is_among(
    flow: &str,
    values: &Map<String, Value>,
    found: &ExecutionState,
) -> Result<Vec<String>, String> {
    let Some(others) = found.flows.get(flow) else {
        return Err(format!("`{flow}` is missing"));
    };
    let mut unknown = Vec::new();
    for (key, value) in values {
        let is_unknown = found
            .unknown
            .get(flow)
            .is_some_and(|keys| keys.contains(key));
        match others.get(key) {
            Some(other) if other == value => {}
            None if is_unknown => unknown.push(format!("{flow}.{key}")),
            other => return Err(format!("`{flow}.{key}` is {other:?} instead of {value}")),
        }
    }
    Ok(unknown)
}

/// A replay goes on to the next step that is not done, and the journal has what comes before it in
/// the next records. So its values are those to which the journal comes before something else is done.
/// Returns the keys that the journal did not show.
pub(crate) async fn compared(
    knows: &Runtime,
    viewer: &Runtime,
    execution: &Execution,
) -> Vec<String> {
    let journal = execution.journal().await.unwrap();
    let mut found = Vec::new();
    for record in &journal {
        let state = viewer
            .executions()
            .state(execution.id(), record.seq)
            .await
            .unwrap();
        assert_eq!(state.source, StateSource::Journal);
        found.push(state);
    }
    let mut unknown = Vec::new();
    for (at, record) in journal.iter().enumerate() {
        let replayed = knows
            .executions()
            .state(execution.id(), record.seq)
            .await
            .unwrap();
        assert_eq!(replayed.source, StateSource::Replay);
        assert_eq!(replayed.under_way, found[at].under_way, "at {record:?}");
        let is_news = |record: &Record| {
            matches!(
                record.kind,
                RecordKind::Outcome
                    | RecordKind::Resumed
                    | RecordKind::NodeFailed
                    | RecordKind::TimedOut
                    | RecordKind::Waited
            )
        };
        let until = journal[at + 1..].iter().position(is_news);
        let until = until.map_or(journal.len() - 1, |until| at + until);
        for (flow, values) in &replayed.flows {
            let near = found[at..=until].iter();
            let near: Vec<_> = near.map(|found| is_among(flow, values, found)).collect();
            match near.iter().find_map(|found| found.as_ref().ok()) {
                Some(keys) => unknown.extend(keys.iter().cloned()),
                None => panic!("at {record:?}: {near:?}\n{replayed:#?}\n{:#?}", found[at]),
            }
        }
    }
    unknown.dedup();
    unknown
}

async fn unknown<F: DurableFlow>(flow: F, input: F::Input) -> Vec<String> {
    let store = store();
    let knows = runtime(store.clone(), flow);
    let execution = settled::<F>(&knows, input).await;
    let viewer = Runtime::with_options(store, options());
    compared(&knows, &viewer, &execution).await
}

/// B-101, for flows of every kind.
#[tokio::test(start_paused = true)]
async fn the_journal_comes_to_the_values_of_a_replay() {
    let number = 10;
    assert!(
        unknown(Rounds::new(), RoundsInput { number })
            .await
            .is_empty()
    );
    let input = DoubledInput {
        first: 2,
        limit: 50,
    };
    assert!(unknown(Doubled::new(), input).await.is_empty());
    assert!(
        unknown(Forks::new(), ForksInput { number })
            .await
            .is_empty()
    );
    let items = (0..7).collect();
    assert!(unknown(Items::new(), ItemsInput { items }).await.is_empty());
    let items = vec![0, 1, 3];
    assert!(unknown(Items::new(), ItemsInput { items }).await.is_empty());
    let nested = Nested::builder().fallback(Fallback).build();
    assert!(unknown(nested, NestedInput { number }).await.is_empty());
    let found = unknown(Waits::new(), WaitsInput { number }).await;
    assert_eq!(
        found,
        ["waits.error"],
        "the error of a timeout is made by the flow"
    );
}

/// Whatever becomes of a claim.
#[derive(Debug, Clone, Serialize, Deserialize, Action)]
enum Verdict {
    Approved { amount: u64, by: String },
    Rejected,
}

#[node(writes(low, high), actions = Verdict)]
fn judge(number: &u64) -> (u64, u64, Verdict) {
    let verdict = match number % 2 {
        0 => Verdict::Approved {
            amount: *number,
            by: "Ann".into(),
        },
        _ => Verdict::Rejected,
    };
    (number / 2, number * 2, verdict)
}

#[node(writes(by, amount))]
fn guess(high: u64) -> (String, u64) {
    ("nobody".into(), high)
}

flow! {
    Judged(number: u64, share: u64 = 3) -> (amount: u64, by: String, share: u64) {
        start >> judge;
        judge - "approved" >> end;
        judge - "rejected" >> guess >> end;
    }
}

/// As it is written for others.
#[derive(Debug, Clone, Serialize, Deserialize, Action)]
#[serde(tag = "kind", rename_all = "camelCase")]
enum Sent {
    ByMail {
        to_whom: String,
    },
    #[serde(rename_all = "camelCase")]
    ByHand {
        who_comes: String,
    },
}

#[node(actions = Sent)]
fn send(amount: u64) -> Sent {
    if amount > 10 {
        Sent::ByMail {
            to_whom: "Ben".into(),
        }
    } else {
        Sent::ByHand {
            who_comes: "Ann".into(),
        }
    }
}

#[node(writes = sent)]
fn note(to_whom: String) -> Option<String> {
    (to_whom != "Ben").then_some(to_whom)
}

#[node(writes = sent)]
fn note_other(who_comes: String) -> Option<String> {
    Some(who_comes)
}

#[node]
fn one(number: u64) -> u64 {
    number + 1
}

flow! {
    One(number: u64) -> (one: u64) {
        start >> one >> end;
    }
}

#[node(writes = all)]
fn gather(all_sent: &[Sent], ones: &[u64]) -> u64 {
    all_sent.len() as u64 + ones.iter().sum::<u64>()
}

flow! {
    Shapes(numbers: Vec<u64>) -> (all: u64, sent: Option<String>, amount: u64) {
        node all_sent: for amount in numbers { send };
        node ones: for number in numbers { One } with concurrency(2);
        node once_more: Judged { number <- all };
        start >> [all_sent, ones] >> gather >> once_more >> send;
        send - "by_mail" >> note >> end;
        send - "by_hand" >> note_other >> end;
    }
}

/// Actions with fields, tagged in several ways, tuples, defaults, and loops over flows.
#[tokio::test(start_paused = true)]
async fn the_shapes_of_outcomes_are_recognized() {
    for number in [3, 4] {
        let found = unknown(Judged::new(), JudgedInput { number, share: 5 }).await;
        assert!(found.is_empty(), "{found:?}");
    }
    let of = |numbers| unknown(Shapes::new(), ShapesInput { numbers });
    // serde has another name for the field.
    assert_eq!(of(vec![]).await, ["shapes.who_comes"]);
    assert!(of(vec![1, 20, 30]).await.is_empty());
}

/// A question that is open, with what was answered before it.
#[tokio::test(start_paused = true)]
async fn a_state_beside_an_open_question() {
    let store = store();
    let knows = runtime(store.clone(), Party::new());
    let input = PartyInput {
        number: 7,
        guests: vec!["Ann".into()],
        guest: "Ben".into(),
    };
    let execution = settled::<Party>(&knows, input).await;
    let viewer = Runtime::with_options(store, options());
    assert!(compared(&knows, &viewer, &execution).await.is_empty());
    let asked = execution.questions().await.unwrap();
    let answer = json!({ "name": "Zoe" });
    let answered = viewer
        .executions()
        .resume(asked[0].token(), answer.clone())
        .await;
    let execution = answered.unwrap().id();
    let execution = knows.executions().get(execution).await.unwrap();
    knows.recover().await.unwrap();
    let execution = execution.settled().await.unwrap();
    assert!(compared(&knows, &viewer, &execution).await.is_empty());
    let last = execution.journal().await.unwrap().len() as u64 - 1;
    let state = viewer
        .executions()
        .state(execution.id(), last)
        .await
        .unwrap();
    assert_eq!(state.under_way, ["party.coming", "party.coming[0]"]);
    assert_eq!(state.flows["party"]["name"], answer);
    assert_eq!(state.flows["party"]["left_again"], 9);
}

#[node(writes = number)]
fn next(number: u64) -> u64 {
    number + 1
}

flow! {
    Counts(number: u64, limit: u64) -> (number: u64) {
        branch is_enough(number, limit) { number >= limit => "yes", else => "no" }
        start >> next >> is_enough;
        is_enough - "no" >> next;
        is_enough - "yes" >> end;
    }
}

/// Over several pages of records, with snapshots among them, without, and with the beginning pruned.
#[tokio::test(start_paused = true)]
async fn a_state_in_a_long_run() {
    let often = NonZeroUsize::new(300).unwrap();
    for options in [
        options().snapshot_every(NonZeroUsize::MAX),
        options().snapshot_every(often),
        options().snapshot_every(often).prune_history(),
    ] {
        let store = store();
        let knows = Runtime::with_options(store.clone(), options);
        knows.register(Counts::new()).unwrap();
        let input = CountsInput {
            number: 0,
            limit: 500,
        };
        let execution = settled::<Counts>(&knows, input).await;
        let viewer = Runtime::with_options(store, crate::support::options());
        let journal = execution.journal().await.unwrap();
        assert!(journal[journal.len() - 1].seq > 2500, "{journal:?}");
        let counted = journal.iter().filter(|record| {
            record.kind == RecordKind::NodeFinished && record.path == "counts.next"
        });
        let counted: Vec<u64> = counted.map(|record| record.seq).collect();
        let some = [0, 1, 198, 199, 200, 201, 340, 499].into_iter();
        for seq in some.filter_map(|at| counted.get(at)) {
            let found = viewer
                .executions()
                .state(execution.id(), *seq)
                .await
                .unwrap();
            let replayed = knows
                .executions()
                .state(execution.id(), *seq)
                .await
                .unwrap();
            assert_eq!(found.flows, replayed.flows, "at {seq}");
        }
        if let Some(before) = journal[0].seq.checked_sub(1) {
            let error = viewer
                .executions()
                .state(execution.id(), before)
                .await
                .unwrap_err();
            assert!(matches!(error, RuntimeError::NoRecord { .. }), "{error}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_damaged_record_is_an_error() {
    let store = store();
    let knows = runtime(store.clone(), Rounds::new());
    let execution = settled::<Rounds>(&knows, RoundsInput { number: 10 }).await;
    let id = execution.id();
    for (damage, expected) in [
        (
            Damage::Payload("{"),
            "record 2, `outcome`, is damaged: EOF while parsing an object",
        ),
        (Damage::Missing, "record 2 is missing"),
    ] {
        let damaged = Faulty::new(&store, Damaged::at(2, damage));
        let viewer = Runtime::with_options(damaged, options());
        assert!(viewer.executions().state(id, 1).await.is_ok());
        let error = viewer.executions().state(id, 2).await.unwrap_err();
        let text = error.to_string();
        assert!(text.contains(expected), "{text}");
        if let RuntimeError::DamagedRecord { seq, .. } = error {
            let writes = viewer.executions().writes(id, 2).await;
            assert!(writes.is_ok(), "nobody has asked for the value yet");
            let error = viewer.executions().writes(id, 3).await.unwrap_err();
            assert_eq!((error.to_string(), seq), (text, 2));
        }
    }
}

flow_law::law! {
    nodes: [judge, guess, send, note, note_other, one, gather, next],
    flows: [
        Judged,
        One,
        Shapes,
        Counts,
    ],
}
