//! Nodes that add to the value of a key.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use flow_runtime::Accumulate;
use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Message {
    text: String,
}

fn message(text: &str) -> Message {
    Message { text: text.into() }
}

fn texts(messages: &[Message]) -> Vec<&str> {
    messages.iter().map(|one| one.text.as_str()).collect()
}

#[node(writes = +messages)]
fn reply(messages: &[Message]) -> Message {
    message(&format!("reply {}", messages.len()))
}

#[derive(Debug, Action, Serialize, Deserialize)]
pub(crate) enum More {
    Again {
        #[action(add)]
        total: u64,
        round: usize,
    },
    Enough,
}

#[node(actions = More)]
fn more(messages: &[Message]) -> More {
    match messages.len() {
        round @ ..4 => More::Again { total: 2, round },
        _ => More::Enough,
    }
}

flow! {
    Talk(messages: Vec<Message>, total: u64) -> (messages: Vec<Message>, total: u64, round: Option<usize>) {
        start >> reply >> more;
        more - "again" >> reply;
        more - "enough" >> end;
    }
}

#[tokio::test]
async fn a_loop_adds_in_each_round() {
    let input = TalkInput::builder();
    let input = input.messages(vec![message("hi")]).total(1).build();
    let output = Talk::new().run(input).await.unwrap();
    let expected = ["hi", "reply 1", "reply 2", "reply 3"];
    assert_eq!(texts(&output.messages), expected);
    assert_eq!((output.total, output.round), (5, Some(3)));
}

#[node]
fn look_up(messages: &[Message]) -> String {
    format!("looked at {}", messages.len())
}

#[node]
fn ask_web(notes: &[String]) -> Vec<String> {
    vec![format!("the web on {}", notes.len()), "more".into()]
}

#[node]
fn report(notes: &[String]) -> String {
    notes.join(", ")
}

flow! {
    /// `report` says the type of `notes`.
    Research(messages: Vec<Message>) -> (report: String) {
        node first: look_up { look_up -> +notes };
        node again: look_up { look_up -> +notes };
        node web: ask_web { ask_web -> +notes };
        start >> first >> [web, again] >> report >> end;
    }
}

#[tokio::test]
async fn branches_add_in_their_order_and_see_the_value_at_the_fork() {
    let input = ResearchInput {
        messages: Vec::new(),
    };
    let output = Research::new().run(input).await.unwrap();
    let expected = "looked at 0, the web on 1, more, looked at 0";
    assert_eq!(output.report, expected);
}

#[node(writes = +log)]
async fn ship(parcel: &u64) -> Result<String, String> {
    tokio::time::sleep(Duration::from_millis(100 - parcel)).await;
    match parcel {
        13 => Err("unlucky".into()),
        parcel => Ok(format!("shipped {parcel}")),
    }
}

flow! {
    Ship(parcels: Vec<u64>) -> (log: Vec<String>) {
        node all: for parcel in parcels { ship } with concurrency(3);
        start >> all >> end;
        all - "error" >> failed >> end("failed");
    }
}

#[node(writes = +log)]
fn failed(error: &NodeError) -> String {
    format!("failed: {}", error.path())
}

#[tokio::test(start_paused = true)]
async fn items_are_added_in_their_order_and_those_of_a_loop_that_fails_are_not() {
    let ship = async |parcels: &[u64]| {
        let input = ShipInput {
            parcels: parcels.into(),
        };
        Ship::new().run(input).await.unwrap()
    };
    assert_eq!(
        ship(&[3, 1, 2]).await.log,
        ["shipped 3", "shipped 1", "shipped 2"]
    );
    assert_eq!(ship(&[]).await.log, [""; 0]);
    let output = ship(&[99, 13]).await;
    assert_eq!(output.end, ShipEnd::Failed);
    assert_eq!(output.log, ["failed: ship.all[1]"]);
}

#[node]
fn doubled(parcel: &u64) -> u64 {
    parcel * 2
}

flow! {
    /// The body of a loop that may be spread.
    Double(parcel: u64) -> (doubled: u64) {
        start >> doubled >> end;
    }
}

flow! {
    ShipInParts(parcels: Vec<u64>) -> (log: Vec<String>, total: Option<u64>) {
        node all: for parcel in parcels { ship } with spread(2), concurrency(2);
        node sums: for parcel in parcels { Double { doubled -> +total } } with spread(1);
        start >> all >> sums >> end;
        all - "error" >> failed >> end("failed");
    }
}

#[tokio::test(start_paused = true)]
async fn items_that_may_be_spread_are_added_in_their_order() {
    let ship = async |parcels: &[u64]| {
        let input = ShipInPartsInput {
            parcels: parcels.into(),
        };
        ShipInParts::new().run(input).await.unwrap()
    };
    let output = ship(&[3, 1, 2]).await;
    assert_eq!(output.log, ["shipped 3", "shipped 1", "shipped 2"]);
    assert_eq!(output.total, Some(12));
    let output = ship(&[]).await;
    assert_eq!((output.log, output.total), (Vec::new(), Some(0)));
    let output = ship(&[99, 13]).await;
    assert_eq!(output.log, ["failed: ship_in_parts.all[1]"]);
}

#[node(writes = +log)]
fn seen(log: &[String]) -> String {
    format!("saw {}", log.len())
}

#[node(writes = +log)]
fn two() -> Vec<String> {
    vec!["one".into(), "two".into()]
}

flow! {
    Seen(parcels: Vec<u64>) -> (log: Vec<String>) {
        node begin: two;
        node all: for parcel in parcels { ship };
        node once: seen;
        node twice: seen;
        start >> begin >> [once >> twice, all >> two] >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn a_branch_sees_what_it_has_added_itself() {
    let input = SeenInput {
        parcels: vec![7, 8],
    };
    let output = Seen::new().run(input).await.unwrap();
    let expected = [
        "one",
        "two",
        "saw 2",
        "saw 3",
        "shipped 7",
        "shipped 8",
        "one",
        "two",
    ];
    assert_eq!(output.log, expected);
}

flow! {
    InBranch(parcels: Vec<u64>) -> (log: Vec<String>, other: u64) {
        node all: for parcel in parcels { ship };
        start >> [all, other] >> end;
    }
}

/// The value begins even if there is nothing to add.
#[tokio::test]
async fn a_loop_over_no_items_in_a_branch_adds_none() {
    let input = InBranchInput {
        parcels: Vec::new(),
    };
    assert_eq!(InBranch::new().run(input).await.unwrap().log, [""; 0]);
}

#[node(writes = log)]
fn anew() -> Vec<String> {
    vec!["anew".into()]
}

#[node]
fn other() -> u64 {
    1
}

flow! {
    Replaced(log: Vec<String>) -> (log: Vec<String>, other: u64) {
        node add: two;
        node again: two;
        start >> [add >> anew >> again, other] >> end;
    }
}

#[tokio::test]
async fn a_branch_that_replaces_a_value_adds_to_its_own() {
    let input = ReplacedInput {
        log: vec!["old".into()],
    };
    let output = Replaced::new().run(input).await.unwrap();
    assert_eq!(output.log, ["anew", "one", "two"]);
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Usage {
    calls: u64,
    tokens: u64,
}

impl Accumulate<u64> for Usage {
    fn add(&mut self, tokens: u64) {
        self.calls += 1;
        self.tokens += tokens;
    }
}

#[node(writes(words, +seen, +count, +text, +by_length, +usage))]
fn kinds(
    word: &str,
) -> (
    usize,
    BTreeSet<String>,
    f64,
    String,
    BTreeMap<usize, String>,
    u64,
) {
    let length = word.len();
    (
        length,
        BTreeSet::from([word.to_owned()]),
        0.5,
        word.to_owned(),
        BTreeMap::from([(length, word.to_owned())]),
        length as u64,
    )
}

#[node(writes = +seen)]
fn one_more(seen: &BTreeSet<String>) -> Option<String> {
    (seen.len() == 1).then(|| "more".to_owned())
}

#[node]
fn bill(usage: &Usage) -> u64 {
    usage.tokens
}

flow! {
    Kinds(word: String, usage: Usage) -> (seen: BTreeSet<String>, count: f64, text: String, by_length: BTreeMap<usize, String>, usage: Usage) {
        node again: kinds;
        node maybe: one_more;
        start >> kinds >> maybe >> one_more >> again >> bill >> end;
    }
}

#[tokio::test]
async fn sets_maps_text_numbers_and_types_of_the_program_can_be_added_to() {
    let usage = Usage {
        calls: 1,
        tokens: 10,
    };
    let input = KindsInput {
        word: "four".into(),
        usage,
    };
    let output = Kinds::new().run(input).await.unwrap();
    assert_eq!(output.seen, ["four", "more"].map(str::to_owned).into());
    assert_eq!((output.count, &*output.text), (1.0, "fourfour"));
    assert_eq!(output.by_length, BTreeMap::from([(4, "four".to_owned())]));
    assert_eq!(
        output.usage,
        Usage {
            calls: 3,
            tokens: 18
        }
    );
}

#[node(writes = +log, retry(attempts = 3))]
fn flaky(cx: &Context) -> Result<String, String> {
    match cx.attempt() {
        2 => Ok("the third attempt".into()),
        attempt => Err(format!("attempt {attempt}")),
    }
}

flow! {
    Flaky() -> (log: Vec<String>) {
        start >> flaky >> end;
    }
}

#[tokio::test]
async fn an_attempt_that_fails_adds_nothing() {
    let output = Flaky::new().run(FlakyInput {}).await.unwrap();
    assert_eq!(output.log, ["the third attempt"]);
}

#[node]
fn send(log: Vec<String>) -> usize {
    log.len()
}

flow! {
    /// A node takes the value before others add to it, and an inner flow adds what it returns.
    Outer(log: Vec<String>) -> (log: Vec<String>, send: usize) {
        node inner: Flaky { log -> +log };
        start >> two >> send >> inner >> end;
    }
}

#[tokio::test]
async fn what_is_taken_before_an_addition_is_still_there() {
    let output = Outer::new()
        .run(OuterInput { log: Vec::new() })
        .await
        .unwrap();
    assert_eq!(output.send, 2);
    assert_eq!(output.log, ["one", "two", "the third attempt"]);
}

#[node(writes = +total)]
fn most() -> u8 {
    200
}

flow! {
    TooMuch(total: u8) -> (total: u8) {
        start >> most >> end;
    }
}

#[tokio::test]
async fn a_sum_out_of_range_is_not_wrong_in_silence() {
    let error = TooMuch::new()
        .run(TooMuchInput { total: 100 })
        .await
        .unwrap_err();
    let FlowError::Panicked { path, message } = error else {
        panic!("{error}");
    };
    assert_eq!(path, "too_much.most");
    assert_eq!(message, "the sum 100 + 200 is out of the range of `u8`");
}

flow_law::law! {
    nodes: [reply, more, look_up, ask_web, report, ship, failed, doubled, seen, two, anew, other, kinds, one_more, bill, flaky, send, most],
    flows: [
        Talk,
        Research,
        Ship { inputs: [serde_json::json!({ "parcels": [5, 3, 1] }), serde_json::json!({ "parcels": [1, 13] })] },
        Double,
        ShipInParts { inputs: [serde_json::json!({ "parcels": [5, 3, 1] }), serde_json::json!({ "parcels": [] }), serde_json::json!({ "parcels": [1, 13] })] },
        Seen { inputs: [serde_json::json!({ "parcels": [7, 8] }), serde_json::json!({ "parcels": [] })] },
        InBranch { inputs: [serde_json::json!({ "parcels": [] })] },
        Replaced,
        Kinds,
        Flaky,
        Outer,
        TooMuch,
    ],
    registries: [flow_loader::registry![]
        .accumulate::<Usage, u64>()
        .accumulate::<BTreeSet<String>, Option<String>>()],
    types: [Message, Usage],
}
