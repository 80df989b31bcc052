//! `branch`: the first condition that holds says the action.

use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

use crate::support::{Calls, Recorder, traced};

#[node(writes = taken)]
fn note_target(cx: &Context) -> String {
    cx.namespace().to_owned()
}

flow! {
    Triage(plan: String, size: u32) -> (taken: String) {
        branch triage(plan, size) {
            plan.contains("technical") => "technical",
            *size > 3 && plan.len() < 100 => "big",
            plan.is_empty() => "empty",
            else => "simple"
        }
        node technical: note_target;
        node big: note_target;
        node simple: note_target;
        start >> triage;
        triage - "technical" >> technical >> end;
        triage - "big" >> big >> end;
        triage - "empty" >> simple;
        triage - "simple" >> simple >> end;
    }
}

/// AF-02, D-29
#[tokio::test]
async fn the_first_condition_that_holds_decides() {
    let cases = [
        ("a technical plan", 9, "technical"),
        ("a technical plan", 1, "technical"),
        ("a plan", 9, "big"),
        ("", 9, "big"),
        ("", 1, "simple"),
        ("a plan", 1, "simple"),
    ];
    for (plan, size, target) in cases {
        let input = TriageInput {
            plan: plan.into(),
            size,
        };
        let (out, trace) = traced(&Triage::new(), input).await;
        assert_eq!(out.taken, format!("triage.{target}"));
        assert_eq!(trace, format!("triage {target}"));
    }
}

#[tokio::test]
async fn its_labels_are_actions_of_its_events() {
    let recorder = Recorder::shared();
    let input = TriageInput {
        plan: String::new(),
        size: 1,
    };
    let options = RunOptions::new().observer(recorder.clone());
    Triage::new().run_with(input, options).await.unwrap();
    assert_eq!(
        recorder.events()[..4],
        [
            "triage.triage started",
            "triage.triage finished: empty",
            "triage.simple started",
            "triage.simple finished: default",
        ]
    );
}

/// Neither `Clone` nor `Copy`.
#[derive(Debug, Serialize, Deserialize)]
struct Draft {
    words: Vec<String>,
}

#[node(writes = draft)]
fn add_word(mut draft: Draft, calls: &Calls) -> Draft {
    calls.note(draft.words.len());
    draft.words.push("word".into());
    draft
}

#[node(writes = length)]
fn hand_in(draft: Draft) -> usize {
    draft.words.len()
}

flow! {
    Write(draft: Draft, calls: Calls, least: usize) -> (length: usize) {
        branch enough(draft, least) {
            draft.words.len() >= *least => "yes",
            else => "no"
        }
        start >> enough;
        enough - "no" >> add_word >> enough;
        enough - "yes" >> hand_in >> end;
    }
}

/// AF-11, D-34
#[tokio::test]
async fn with_an_edge_that_goes_back_it_is_a_loop() {
    let calls = Calls::default();
    let input = WriteInput {
        draft: Draft { words: Vec::new() },
        calls: calls.clone(),
        least: 3,
    };
    let (out, trace) = traced(&Write::new(), input).await;
    assert_eq!(out.length, 3);
    assert_eq!(calls.all(), ["0", "1", "2"]);
    assert_eq!(
        trace,
        "enough add_word enough add_word enough add_word enough hand_in"
    );
}

flow! {
    ElseOnly(draft: Draft) -> (length: usize) {
        branch always(draft) { else => "default" }
        start >> always >> hand_in >> end;
    }
}

#[tokio::test]
async fn it_may_have_nothing_but_an_else() {
    let input = ElseOnlyInput {
        draft: Draft {
            words: vec!["word".into()],
        },
    };
    assert_eq!(ElseOnly::new().run(input).await.unwrap().length, 1);
}

flow! {
    ReadsNothing() {
        branch always() { cfg!(test) => "yes", else => "no" }
        start >> always;
        always - "yes" >> end("yes");
        always - "no" >> end("no");
    }
}

#[tokio::test]
async fn it_may_read_nothing() {
    let out = ReadsNothing::new()
        .run(ReadsNothingInput::builder().build())
        .await
        .unwrap();
    assert_eq!(out.end, ReadsNothingEnd::Yes);
}

flow! {
    UnluckyNames(state: u64, engine: u64, scope: String, own: u64) {
        branch route(state, engine, scope, own) {
            state == engine => "same",
            scope.len() as u64 > *own => "long",
            else => "else"
        }
        start >> route;
        route - "same" >> end("same");
        route - "long" >> end("long");
        route - "else" >> end("else");
    }
}

#[tokio::test]
async fn its_keys_may_have_any_name() {
    for (state, scope, end) in [
        (1, "", UnluckyNamesEnd::Same),
        (2, "long", UnluckyNamesEnd::Long),
        (2, "l", UnluckyNamesEnd::Else),
    ] {
        let input = UnluckyNamesInput {
            state,
            engine: 1,
            scope: scope.into(),
            own: 3,
        };
        assert_eq!(UnluckyNames::new().run(input).await.unwrap().end, end);
    }
}

flow! {
    Bounded(rounds: Vec<u64>, calls: Calls, draft: Draft) -> (draft: Draft) {
        branch left(draft, rounds) { draft.words.len() < rounds.len() => "again", else => "done" }
        start >> left;
        left - "again" >> [add_word, wait(1s)] >> left;
        left - "done" >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn a_loop_of_forks_and_branches() {
    let began = tokio::time::Instant::now();
    let input = BoundedInput {
        rounds: vec![0; 4],
        calls: Calls::default(),
        draft: Draft { words: Vec::new() },
    };
    let out = Bounded::new().run(input).await.unwrap();
    assert_eq!(out.draft.words.len(), 4);
    assert_eq!(began.elapsed().as_secs(), 4);
}

sources! {
    "branches.rs":
    Triage => TriageAgain,
    Write => WriteAgain,
    ElseOnly => ElseOnlyAgain,
    ReadsNothing => ReadsNothingAgain,
    UnluckyNames => UnluckyNamesAgain,
    Bounded => BoundedAgain,
}

flow_law::law! {
    nodes: [note_target, add_word, hand_in],
    flows: [
        ElseOnly,
    ],
    types: [Draft],
    left_out: [Triage, Write, ReadsNothing, UnluckyNames, Bounded],
}
