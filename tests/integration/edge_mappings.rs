//! Mappings of edges: keys that are written when a run takes an edge.

use std::sync::atomic::{AtomicUsize, Ordering};

use flow_runtime::prelude::*;
use flow_runtime::testing::Scripted;
use flow_spec::FlowDocument;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::support::traced;

#[derive(Action, Serialize, Deserialize)]
enum Verdict {
    Again { feedback: String },
    Good { score: u8 },
    Bad { reason: String },
}

/// Wants a text of four letters, and adds to a shorter one.
#[node(actions = Verdict)]
fn judge(draft: &str) -> Verdict {
    match draft.len() {
        0..4 => Verdict::Again {
            feedback: format!("{draft}!"),
        },
        4 => Verdict::Good { score: 9 },
        _ => Verdict::Bad {
            reason: format!("`{draft}` is too long"),
        },
    }
}

flow! {
    /// The first draft is the input, each further one is the feedback.
    Judged(text: String) -> (message: Option<String>, score: Option<u8>, text: String) {
        start >> judge { draft <- text };
        judge - "again" >> judge { draft <- feedback };
        judge - "good"  >> end;
        judge - "bad"   >> end("bad") { message <- reason };
    }
}

fn judged(text: &str) -> JudgedInput {
    JudgedInput::builder().text(text.into()).build()
}

#[tokio::test]
async fn each_edge_gives_the_key_another_value() {
    let output = Judged::new().run(judged("ab")).await.unwrap();
    assert_eq!((output.score, output.message), (Some(9), None));
    assert_eq!(output.text, "ab");
    let output = Judged::new().run(judged("abcdef")).await.unwrap();
    assert_eq!(output.end, JudgedEnd::Bad);
    assert_eq!(output.message.unwrap(), "`abcdef` is too long");
}

#[tokio::test]
async fn an_observed_run_and_a_scripted_run_do_the_same() {
    let (output, trace) = traced(&Judged::new(), judged("ab")).await;
    assert_eq!(output.score, Some(9));
    assert_eq!(trace, "judge judge judge");
    let script = Scripted::new().node::<judge>(|visit| match visit.number() {
        1 => Verdict::Again {
            feedback: "again".into(),
        },
        _ => Verdict::Bad {
            reason: "scripted".into(),
        },
    });
    let run = script.run(&Judged::new(), judged("ab")).await;
    assert_eq!(
        run.into_result().unwrap().message.as_deref(),
        Some("scripted")
    );
}

flow! {
    Around(text: String) -> (message: Option<String>) {
        start >> Judged >> end;
        Judged - "bad" >> shout { draft <- message } >> end { message <- shouted };
    }
}

#[node(writes = shouted)]
fn shout(draft: String) -> String {
    draft.to_uppercase()
}

/// What an end maps is certainly written there, so the edge of that end can read it.
#[tokio::test]
async fn the_flow_around_it_reads_what_an_end_has_mapped() {
    let input = AroundInput::builder().text("abcdef".into()).build();
    let output = Around::new().run(input).await.unwrap();
    assert_eq!(output.message.unwrap(), "`ABCDEF` IS TOO LONG");
    let JudgedOutcome::Bad { message, .. } = Judged::new()
        .run(judged("abcdef"))
        .await
        .unwrap()
        .into_outcome()
    else {
        panic!("it is too long")
    };
    let _: String = message;
}

/// A value that cannot be cloned.
struct Token(&'static str);

#[node(writes = renewed)]
fn renew(held: Token) -> Token {
    Token(if held.0 == "old" { "new" } else { "newer" })
}

flow! {
    Moved(first: Token) -> (last: Token) {
        node again: renew { renewed -> used };
        start >> renew { held <- first } >> again { held <- renewed } >> end { last <- used };
    }
}

#[tokio::test]
async fn a_value_that_nothing_reads_later_is_moved() {
    let input = MovedInput::builder().first(Token("old")).build();
    assert_eq!(Moved::new().run(input).await.unwrap().last.0, "newer");
}

static CLONES: AtomicUsize = AtomicUsize::new(0);

struct Counted;

impl Clone for Counted {
    fn clone(&self) -> Self {
        CLONES.fetch_add(1, Ordering::Relaxed);
        Counted
    }
}

#[node]
fn keep(held: Counted) {
    let Counted = held;
}

flow! {
    Cloned(value: Counted) {
        node later: keep { held <- value };
        start >> keep { held <- value } >> later >> end;
    }
}

#[tokio::test]
async fn a_value_that_is_read_later_is_cloned_once() {
    let input = ClonedInput::builder().value(Counted).build();
    Cloned::new().run(input).await.unwrap();
    assert_eq!(CLONES.load(Ordering::Relaxed), 1);
}

#[node(writes = said)]
fn both(left: &str, right: &str) -> String {
    format!("{left}, {right}")
}

flow! {
    Swapped(left: String, right: String) -> (said: String) {
        start >> both { left <- right, right <- left } >> end;
    }
}

#[tokio::test]
async fn an_edge_reads_all_sources_before_it_writes() {
    let input = SwappedInput::builder()
        .left("left".into())
        .right("right".into())
        .build();
    assert_eq!(Swapped::new().run(input).await.unwrap().said, "right, left");
}

flow! {
    Straight(text: String) -> (same: String) {
        start >> end { same <- text };
    }
}

#[tokio::test]
async fn a_flow_without_nodes_can_give_an_input_another_name() {
    let input = StraightInput::builder().text("x".into()).build();
    assert_eq!(Straight::new().run(input).await.unwrap().same, "x");
}

flow! {
    /// A branch whose keys have the names that generated code uses.
    Chosen(state: u8, route: u8, engine: u8) -> (chosen: u8) {
        branch choose(state, route, engine) {
            *state > 0 => "state",
            *route > 0 => "route",
            else => "engine",
        }
        start >> choose;
        choose - "state"  >> end { chosen <- state };
        choose - "route"  >> end { chosen <- route };
        choose - "engine" >> end { chosen <- engine };
    }
}

#[tokio::test]
async fn each_action_of_a_branch_maps_its_own() {
    for (state, route, engine, chosen) in [(7, 8, 9, 7), (0, 8, 9, 8), (0, 0, 9, 9)] {
        let input = ChosenInput {
            state,
            route,
            engine,
        };
        assert_eq!(Chosen::new().run(input).await.unwrap().chosen, chosen);
    }
}

#[node(writes = found)]
fn find(fails: &bool) -> Result<String, String> {
    if *fails {
        Err("nothing there".into())
    } else {
        Ok("it".into())
    }
}

#[node(writes = text)]
fn tell(problem: &NodeError) -> String {
    problem.error().to_string()
}

flow! {
    Failing(fails: bool) -> (text: String) {
        start >> find >> end { text <- found };
        find - "error" >> tell { problem <- error } >> end;
    }
}

#[tokio::test]
async fn the_edge_of_an_error_maps_the_error() {
    for (fails, text) in [(true, "nothing there"), (false, "it")] {
        let input = FailingInput { fails };
        assert_eq!(Failing::new().run(input).await.unwrap().text, text);
    }
}

#[node(poll(every = "1s", timeout = "3s"), writes = job)]
async fn poll(name: &str) -> Option<String> {
    (name == "quick").then(|| "done".to_owned())
}

flow! {
    Polled(name: String) -> (message: String) {
        start >> poll >> end { message <- job };
        poll - "timeout" >> wait(1s) >> end("late") { message <- name };
    }
}

#[tokio::test(start_paused = true)]
async fn the_edges_of_a_timeout_and_of_a_pause_map() {
    for (name, message) in [("quick", "done"), ("slow", "slow")] {
        let input = PolledInput { name: name.into() };
        assert_eq!(Polled::new().run(input).await.unwrap().message, message);
    }
}

#[node(writes = length)]
fn measure(draft: &str) -> usize {
    draft.len()
}

#[node]
fn scaled(item: &usize, draft: &str) -> usize {
    item * draft.len()
}

flow! {
    Inside(text: String, other: String, numbers: Vec<usize>) -> (length: usize, all: Vec<usize>) {
        node all: for item in items { scaled };
        node loud: shout { shouted -> loud };
        start >> [measure, loud] { draft <- text } >> all { items <- numbers, draft <- other } >> end;
    }
}

#[tokio::test]
async fn what_is_inside_a_fork_and_a_loop_reads_what_the_edge_wrote() {
    let input = InsideInput::builder()
        .text("abc".into())
        .other("ab".into())
        .numbers(vec![1, 2])
        .build();
    let output = Inside::new().run(input).await.unwrap();
    assert_eq!((output.length, output.all), (3, vec![2, 4]));
}

#[node(writes = next)]
fn next(number: &u64) -> u64 {
    number + 1
}

flow! {
    /// More nodes than one function runs.
    Many(first: u64) -> (last: u64) {
        node n1: next; node n2: next; node n3: next; node n4: next; node n5: next; node n6: next;
        node n7: next; node n8: next; node n9: next; node n10: next; node n11: next; node n12: next;
        node n13: next; node n14: next; node n15: next; node n16: next; node n17: next; node n18: next;
        start >> n1 { number <- first } >> n2 { number <- next } >> n3 >> n4 >> n5 >> n6 >> n7 >> n8 >> n9
            >> n10 >> n11 >> n12 >> n13 >> n14 >> n15 >> n16 { number <- next } >> n17 { number <- next } >> n18
            >> end { last <- next };
    }
}

#[tokio::test]
async fn edges_between_the_parts_of_a_long_flow_map() {
    let output = Many::new().run(ManyInput { first: 1 }).await.unwrap();
    // Only four edges pass on what the node before has made.
    assert_eq!(output.last, 5);
}

#[test]
fn mappings_are_exported() {
    let document = FlowDocument::parse_spec(Judged::SPEC).unwrap();
    assert_eq!(document.check(), []);
    let json = serde_json::to_value(&document).unwrap();
    assert_eq!(json["entryMappings"], json!({ "text": "draft" }));
    assert_eq!(json["edges"][0]["mappings"], json!({ "feedback": "draft" }));
    assert_eq!(json["ends"][0].get("mappings"), None);
    assert_eq!(json["ends"][1]["mappings"], json!({ "reason": "message" }));
    let inside = FlowDocument::parse_spec(Inside::SPEC).unwrap();
    assert_eq!(inside.check(), []);
    let each = inside.nodes.iter().find(|node| node.id == "all").unwrap();
    assert_eq!(each.inputs.rust_type("items"), Some("Vec<usize>"));
}

flow_law::law! {
    nodes: [judge, shout, renew, keep, both, find, tell, poll, measure, scaled, next],
    flows: [
        Judged,
        Around,
        Swapped,
        Straight,
        Chosen,
        Failing,
        Polled,
        Inside,
        Many,
    ],
    not_json: [Moved, Cloned],
}
