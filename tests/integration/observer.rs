//! What an observer sees, and that it does no harm.

use std::sync::{Arc, Mutex};

use flow_runtime::RunId;
use flow_runtime::observer_failures;
use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

use crate::support::{Broken, Recorder};

#[derive(Action, Serialize, Deserialize)]
enum Verdict {
    Accepted { accepted: String },
    Rejected,
}

/// Fails once on each visit.
struct Judge;

#[node(actions = Verdict, retry(attempts = 2))]
impl Judge {
    fn prep(&self, draft: &str) -> String {
        draft.to_owned()
    }

    async fn exec(&self, cx: &Context, draft: &str) -> Result<bool, Broken> {
        cx.emit("reading");
        match cx.attempt() {
            0 => Err(Broken("too tired")),
            _ => Ok(draft.len() > 3),
        }
    }

    fn post(&self, prep_res: String, exec_res: bool) -> Verdict {
        if exec_res {
            Verdict::Accepted { accepted: prep_res }
        } else {
            Verdict::Rejected
        }
    }
}

#[node(writes = draft)]
fn revise(draft: String) -> String {
    draft + "!!"
}

flow! {
    Judges(draft: String) -> (accepted: String) {
        node judge: Judge = Judge;
        start >> judge;
        judge - "rejected" >> revise >> judge;
        judge - "accepted" >> end("accepted");
    }
}

flow! {
    Publishes(draft: String) -> (accepted: String) {
        namespace "press";
        start >> Judges - "accepted" >> end;
    }
}

#[tokio::test]
async fn an_event_has_the_place_of_the_node_that_it_names() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let events = seen.clone();
    let options = RunOptions::new().observer(Arc::new(move |event: &Event<'_>| {
        // Of what a node emits, only the path is known.
        if let Some(place) = event.path().place() {
            let path = event.path().to_string();
            events.lock().unwrap().push((path, place.path, place.step));
        }
    }));
    let input = PublishesInput::builder().draft("ab".into()).build();
    Publishes::new().run_with(input, options).await.unwrap();
    let seen = seen.lock().unwrap();
    assert_eq!(seen.len(), 12);
    for (path, of_place, step) in seen.iter() {
        assert_eq!((path, path), (of_place, step));
    }
}

/// TE-01
#[tokio::test]
async fn every_event_comes_once_and_in_order() {
    let recorder = Recorder::shared();
    let options = RunOptions::new().observer(recorder.clone());
    let input = PublishesInput::builder().draft("ab".into()).build();
    Publishes::new().run_with(input, options).await.unwrap();
    assert_eq!(
        recorder.events(),
        [
            "press.judges started",
            "press.judges.judge started",
            "press.judges.judge delta: reading",
            "press.judges.judge attempt 0 failed: too tired",
            "press.judges.judge delta: reading",
            "press.judges.judge finished: rejected",
            "press.judges.revise started",
            "press.judges.revise finished: default",
            "press.judges.judge started",
            "press.judges.judge delta: reading",
            "press.judges.judge attempt 0 failed: too tired",
            "press.judges.judge delta: reading",
            "press.judges.judge finished: accepted",
            "press.judges ended: accepted",
            "press.judges finished: accepted",
            "press ended: default",
        ]
    );
    assert_eq!(recorder.runs().len(), 1);
}

/// D-37: the failure that ends a run is its last event.
#[tokio::test]
async fn a_run_that_fails_ends_with_its_failure() {
    struct Fails;

    #[node(writes = never, retry(attempts = 2))]
    impl Fails {
        fn exec(&self) -> Result<u32, Broken> {
            Err(Broken("no"))
        }

        fn exec_fallback(&self) -> Result<u32, Broken> {
            Err(Broken("nor this"))
        }
    }

    flow! {
        FailsInTheEnd() -> (never: u32) {
            node fails: Fails = Fails;
            start >> fails >> end;
        }
    }

    let recorder = Recorder::shared();
    let options = RunOptions::new().observer(recorder.clone());
    let input = FailsInTheEndInput::builder().build();
    FailsInTheEnd::new()
        .run_with(input, options)
        .await
        .unwrap_err();
    assert_eq!(
        recorder.events(),
        [
            "fails_in_the_end.fails started",
            "fails_in_the_end.fails attempt 0 failed: no",
            "fails_in_the_end.fails attempt 1 failed: no",
            "fails_in_the_end.fails attempt 1 failed: nor this",
            "fails_in_the_end.fails failed after 2 attempts: nor this: no",
            "fails_in_the_end failed: node `fails_in_the_end.fails` failed after 2 attempts: nor this: no",
        ]
    );
}

#[node]
fn refuses(number: &u32) -> Result<u32, Broken> {
    Err(Broken(if *number == 7 { "seven" } else { "not seven" }))
}

flow! {
    Composites(number: u32, numbers: Vec<u32>) -> (all: Vec<u32>) {
        node all: for number in numbers { refuses };
        start >> [refuses, wait(1s)] >> all >> end;
        [refuses, wait(1s)] - "error" >> all;
    }
}

/// B-076: the failure of a fork and of a loop is told after that of what failed inside.
#[tokio::test(start_paused = true)]
async fn a_fork_and_a_loop_that_fail_are_told_of() {
    let recorder = Recorder::shared();
    let options = RunOptions::new().observer(recorder.clone());
    let input = CompositesInput {
        number: 7,
        numbers: vec![1],
    };
    Composites::new()
        .run_with(input, options)
        .await
        .unwrap_err();
    let failed = recorder.events();
    let failed: Vec<_> = failed
        .iter()
        .filter(|line| !line.contains("attempt 0"))
        .collect();
    assert_eq!(
        failed,
        [
            "composites.fork started",
            "composites.refuses started",
            "composites.refuses failed after 1 attempt: seven",
            "composites.fork failed: node `composites.refuses` failed after 1 attempt: seven",
            "composites.fork finished: error",
            "composites.all started",
            "composites.all[0] started",
            "composites.all[0] failed after 1 attempt: not seven",
            "composites.all failed: node `composites.all[0]` failed after 1 attempt: not seven",
            "composites failed: node `composites.all[0]` failed after 1 attempt: not seven",
        ]
    );
}

#[node]
fn first() -> u32 {
    1
}

#[node]
fn second(first: &u32) -> u32 {
    first + 1
}

flow! {
    TwoSteps() -> (second: u32) {
        start >> first >> second >> end;
    }
}

#[tokio::test]
async fn each_run_has_an_id_of_its_own() {
    let recorder = Recorder::shared();
    for _ in 0..3 {
        let options = RunOptions::new().observer(recorder.clone());
        TwoSteps::new()
            .run_with(TwoStepsInput::builder().build(), options)
            .await
            .unwrap();
    }
    let runs = recorder.runs();
    assert_eq!(runs.len(), 3);
    assert!(runs.is_sorted(), "{runs:?}");
    assert_eq!(recorder.trace_of(runs[1]), "first second");
}

/// What an event says beside its text.
#[derive(Default)]
struct Details(Mutex<Vec<(RunId, String, String)>>);

impl Observer for Details {
    fn on_event(&self, event: &Event<'_>) {
        let kind = match event.kind() {
            EventKind::AttemptFailed { attempt, error } => {
                let broken = error.downcast_ref::<Broken>();
                format!("{attempt} {broken:?}")
            }
            EventKind::Delta(delta) => delta.to_owned(),
            EventKind::NodeFinished { action } => action.to_owned(),
            EventKind::FlowEnded { end } => end.to_owned(),
            kind => format!("{kind:?}"),
        };
        let path = event.path().to_string();
        self.0.lock().unwrap().push((event.run(), path, kind));
    }
}

#[tokio::test]
async fn an_event_can_be_taken_apart() {
    let details = Arc::new(Details::default());
    let options = RunOptions::new().observer(details.clone());
    let input = JudgesInput::builder().draft("long enough".into()).build();
    Judges::new().run_with(input, options).await.unwrap();
    let details = details.0.lock().unwrap();
    let run = details[0].0;
    let expected = [
        ("judges.judge", "NodeStarted"),
        ("judges.judge", "reading"),
        ("judges.judge", r#"0 Some(Broken("too tired"))"#),
        ("judges.judge", "reading"),
        ("judges.judge", "accepted"),
        ("judges", "accepted"),
    ];
    let expected = expected.map(|(path, kind)| (run, path.to_owned(), kind.to_owned()));
    assert_eq!(*details, expected);
}

/// Panics at some events, and records all the others.
struct Panicking {
    at: &'static str,
    recorder: Recorder,
}

impl Observer for Panicking {
    fn on_event(&self, event: &Event<'_>) {
        assert!(
            !event.to_string().contains(self.at),
            "an observer that fails"
        );
        self.recorder.on_event(event);
    }
}

async fn judged_before(
    at: &'static str,
    draft: &str,
) -> (Result<JudgesOutput, FlowError>, Vec<String>) {
    let observer = Arc::new(Panicking {
        at,
        recorder: Recorder::default(),
    });
    let options = RunOptions::new().observer(observer.clone());
    let input = JudgesInput::builder().draft(draft.into()).build();
    let ended = Judges::new().run_with(input, options).await;
    (ended, observer.recorder.events())
}

/// TE-06
#[tokio::test]
async fn an_observer_that_panics_does_no_harm() {
    for at in ["started", "failed", "finished", "ended"] {
        let (ended, events) = judged_before(at, "long enough").await;
        assert_eq!(ended.unwrap().accepted, "long enough", "{at}");
        assert_eq!(events.len(), 5, "{at}: {events:?}");
    }
}

/// TE-06, between one node and the next
#[tokio::test]
async fn an_observer_that_panics_is_told_of_the_next_node() {
    for (at, told) in [
        ("judge finished: rejected", "judges.revise started"),
        ("revise started", "judges.judge finished: rejected"),
    ] {
        let (ended, events) = judged_before(at, "no").await;
        assert_eq!(ended.unwrap().accepted, "no!!", "{at}");
        assert!(events.iter().any(|event| event == told), "{at}: {events:?}");
    }
}

/// Notes every event with its own name, in a list that it shares with others; and panics after that, if it is to.
fn named(name: &'static str, panics: bool, heard: &Arc<Mutex<Vec<String>>>) -> Arc<dyn Observer> {
    let heard = heard.clone();
    Arc::new(move |event: &Event<'_>| {
        heard.lock().unwrap().push(format!("{name}: {event}"));
        assert!(!panics, "an observer that fails");
    })
}

/// What all of them hear of a flow of two nodes.
async fn heard_by(observers: &[(&'static str, bool)]) -> Vec<String> {
    let heard = Arc::default();
    let mut options = RunOptions::new();
    for &(name, panics) in observers {
        options = options.observer(named(name, panics, &heard));
    }
    let input = TwoStepsInput::builder().build();
    let output = TwoSteps::new().run_with(input, options).await.unwrap();
    assert_eq!(output.second, 2);
    let heard = heard.lock().unwrap();
    heard.clone()
}

/// Each event as all of these hear it, one after the other.
fn by_each(names: &[&str]) -> Vec<String> {
    let events = [
        "two_steps.first started",
        "two_steps.first finished: default",
        "two_steps.second started",
        "two_steps.second finished: default",
        "two_steps ended: default",
    ];
    let by_each = events.iter().flat_map(|event| {
        let heard = names.iter().map(move |name| format!("{name}: {event}"));
        heard.collect::<Vec<_>>()
    });
    by_each.collect()
}

#[tokio::test]
async fn several_observers_are_told_of_each_event_in_the_order_they_were_added() {
    let heard = heard_by(&[("a", false)]).await;
    assert_eq!(heard, by_each(&["a"]));
    let heard = heard_by(&[("a", false), ("b", false)]).await;
    assert_eq!(heard, by_each(&["a", "b"]));
    let heard = heard_by(&[("a", false), ("b", false), ("c", false)]).await;
    assert_eq!(heard, by_each(&["a", "b", "c"]));
}

#[tokio::test]
async fn an_observer_that_panics_does_not_stop_the_others() {
    for panicking in ["a", "b", "c"] {
        let observers = ["a", "b", "c"].map(|name| (name, name == panicking));
        let heard = heard_by(&observers).await;
        assert_eq!(heard, by_each(&["a", "b", "c"]), "{panicking}");
    }
    // Other tests, whose observers panic as well, may run at the same time.
    let before = observer_failures();
    let heard = heard_by(&[("a", true), ("b", true)]).await;
    assert_eq!(heard, by_each(&["a", "b"]));
    assert!(observer_failures() >= before + 10, "each panic is counted");
}

/// Options are values: what is added to a copy is the copy's.
#[tokio::test]
async fn an_observer_is_added_to_its_own_options_only() {
    let heard = Arc::default();
    let options = RunOptions::new().observer(named("a", false, &heard));
    let copy = options.clone().observer(named("b", false, &heard));
    let input = || TwoStepsInput::builder().build();
    TwoSteps::new().run_with(input(), options).await.unwrap();
    assert_eq!(*heard.lock().unwrap(), by_each(&["a"]));
    heard.lock().unwrap().clear();
    TwoSteps::new().run_with(input(), copy).await.unwrap();
    assert_eq!(*heard.lock().unwrap(), by_each(&["a", "b"]));
}

#[tokio::test]
async fn each_observer_hears_every_delta() {
    let recorders = [Recorder::shared(), Recorder::shared(), Recorder::shared()];
    let mut options = RunOptions::new();
    for recorder in &recorders {
        options = options.observer(recorder.clone());
    }
    let input = JudgesInput::builder().draft("long enough".into()).build();
    Judges::new().run_with(input, options).await.unwrap();
    let deltas = recorders.map(|recorder| {
        let events = recorder.events();
        events
            .iter()
            .filter(|event| event.contains("delta"))
            .count()
    });
    assert_eq!(deltas, [2, 2, 2]);
}

/// The last step of a budget is as much seen as any other.
#[tokio::test]
async fn a_node_is_finished_before_the_budget_is_used_up() {
    let recorder = Recorder::shared();
    let options = RunOptions::new().observer(recorder.clone()).step_budget(1);
    let input = JudgesInput::builder().draft("no".into()).build();
    Judges::new().run_with(input, options).await.unwrap_err();
    let limit = "judges failed: the run used up its 1 steps before `judges.revise`; if it is meant to be that long, raise `step_budget`";
    assert_eq!(
        recorder.events()[4..],
        ["judges.judge finished: rejected", limit]
    );
}

/// TE-06, at the event that a node sends by itself
#[tokio::test]
async fn an_observer_that_panics_at_a_delta_does_no_harm() {
    let (ended, events) = judged_before("delta", "long enough").await;
    assert_eq!(ended.unwrap().accepted, "long enough");
    assert_eq!(events.len(), 4, "{events:?}");
}

/// A model's answer, of which this many tokens arrive.
struct Stream {
    arriving: usize,
}

#[node(writes = answer)]
impl Stream {
    async fn exec(&self, cx: &Context) -> Result<String, Broken> {
        let mut answer = String::new();
        for token in ["He", "llo"].iter().take(self.arriving) {
            tokio::task::yield_now().await;
            cx.emit(token);
            answer.push_str(token);
        }
        if self.arriving < 2 {
            Err(Broken("connection lost"))
        } else {
            Ok(answer)
        }
    }
}

flow! {
    Streams() -> (answer: Option<String>) {
        node agent: Stream;
        start >> agent >> end;
        agent - "error" >> end("lost");
    }
}

/// AF-10
#[tokio::test]
async fn deltas_come_before_the_result() {
    let recorder = Recorder::shared();
    let options = RunOptions::new().observer(recorder.clone());
    let flow = Streams::builder().agent(Stream { arriving: 2 }).build();
    let out = flow
        .run_with(StreamsInput::builder().build(), options)
        .await
        .unwrap();
    assert_eq!(out.answer.as_deref(), Some("Hello"));
    assert_eq!(
        recorder.events(),
        [
            "streams.agent started",
            "streams.agent delta: He",
            "streams.agent delta: llo",
            "streams.agent finished: default",
            "streams ended: default",
        ]
    );
}

/// AF-10
#[tokio::test]
async fn a_stream_that_breaks_has_deltas_but_no_result() {
    let recorder = Recorder::shared();
    let options = RunOptions::new().observer(recorder.clone());
    let flow = Streams::builder().agent(Stream { arriving: 1 }).build();
    let out = flow
        .run_with(StreamsInput::builder().build(), options)
        .await
        .unwrap();
    assert_eq!((out.answer, out.end), (None, StreamsEnd::Lost));
    assert_eq!(
        recorder.events(),
        [
            "streams.agent started",
            "streams.agent delta: He",
            "streams.agent attempt 0 failed: connection lost",
            "streams.agent failed after 1 attempt: connection lost",
            "streams.agent finished: error",
            "streams ended: lost",
        ]
    );
}

#[tokio::test]
async fn a_run_without_an_observer_may_emit() {
    let flow = Streams::builder().agent(Stream { arriving: 2 }).build();
    let out = flow.run(StreamsInput::builder().build()).await.unwrap();
    assert_eq!(out.answer.as_deref(), Some("Hello"));
}

flow_law::law! {
    nodes: [revise, first, second, refuses],
    flows: [
        Judges with [Judge = Judge],
        Publishes with [Judge = Judge],
        TwoSteps,
        Composites,
        Streams(Streams::builder().agent(Stream { arriving: 2 }).build())
            with [Stream = Stream { arriving: 2 }],
    ],
}
