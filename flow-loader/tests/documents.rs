//! What is said about documents that cannot be loaded.

use flow_loader::{Format, load, registry};
use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

#[node(writes = draft)]
fn write(topic: &str) -> String {
    format!("About {topic}")
}

#[derive(Action, Serialize, Deserialize)]
enum Verdict {
    Approved,
    Rejected { reason: String },
}

#[node(actions = Verdict)]
fn review(draft: &str) -> Verdict {
    match draft.len() {
        0..9 => Verdict::Rejected {
            reason: "short".into(),
        },
        _ => Verdict::Approved,
    }
}

#[node(writes = draft)]
fn revise(draft: String, reason: &str) -> String {
    draft + reason
}

#[node]
fn length(draft: &u32) -> u32 {
    *draft
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Prefix {
    text: String,
}

#[node(writes = draft)]
impl Prefix {
    fn exec(&self, draft: &str) -> String {
        format!("{} {draft}", self.text)
    }
}

const SOUND: &str = "\
version: 2.0.0
name: Article
namespace: article
inputs: { type: object, properties: { topic: {} }, required: [topic] }
outputs: { type: object, properties: { draft: {} }, required: [draft] }
nodes:
  - { type: write, id: write }
  - { type: review, id: review }
  - { type: revise, id: revise }
entryNodeId: write
edges:
  - { from: write, to: review, condition: default }
  - { from: review, to: revise, condition: rejected }
  - { from: revise, to: review, condition: default }
ends:
  - { from: review, condition: approved, label: default }
";

/// The error for the sound document with one change.
fn changed(from: &str, to: &str) -> String {
    assert!(SOUND.contains(from), "{from}");
    let registry = registry![write, review, revise, length, Prefix];
    let loaded = load(SOUND.replacen(from, to, 1), Format::Yaml, &registry);
    loaded.map_or_else(|error| error.to_string(), |_| "sound".to_owned())
}

#[test]
fn a_sound_document_is_loaded() {
    assert_eq!(changed("write", "write"), "sound");
}

#[test]
fn a_node_that_is_not_registered() {
    assert_eq!(
        changed("type: revise", "type: revize"),
        "9:13: no node `revize` is registered [F004]\nat /nodes/2/type\nhelp: did you mean `revise`?"
    );
    assert_eq!(
        changed("type: revise", "type: summarize"),
        "9:13: no node `summarize` is registered [F004]\nat /nodes/2/type\nhelp: register it: `registry![summarize]`"
    );
}

#[test]
fn what_the_analysis_finds() {
    assert_eq!(
        changed("condition: rejected", "condition: refused"),
        "13:44: `review` has no action \"refused\" [F001]\nat /edges/1/condition\nhelp: it takes \"approved\", \"rejected\""
    );
    assert_eq!(
        changed(
            "  - { from: review, to: revise, condition: rejected }\n",
            ""
        )
        .lines()
        .next(),
        Some("8:5: action \"rejected\" of `review` goes nowhere [F002]")
    );
}

#[test]
fn types_that_differ() {
    let length = "{ type: length, id: write, mappings: { inputs: { draft: topic }, outputs: { length: draft } } }";
    let error = changed("{ type: write, id: write }", length);
    assert_eq!(
        error.lines().next(),
        // What reads it as `revise` writes it is the same mistake.
        Some("9:5: `revise` writes `draft` as `String`, but `write` writes it as `u32` [F009]")
    );
}

mod one {
    use flow_runtime::prelude::*;

    pub(crate) struct Page;

    #[node(writes = page)]
    pub(crate) fn open(topic: &str) -> Page {
        assert!(!topic.is_empty());
        Page
    }
}

mod two {
    use flow_runtime::prelude::*;

    pub(crate) struct Page;

    #[node(writes = draft)]
    pub(crate) fn read(_page: &Page) -> String {
        String::new()
    }
}

const READ: &str = "\
version: 2.0.0
name: Reading
namespace: reading
inputs: { type: object, properties: { topic: {} }, required: [topic] }
outputs: { type: object, properties: { draft: {} }, required: [draft] }
nodes:
  - { type: open, id: open }
  - { type: read, id: read }
entryNodeId: open
edges:
  - { from: open, to: read, condition: default }
ends:
  - { from: read, condition: default, label: default }
";

#[test]
fn two_types_of_one_name_are_two_types() {
    use one::open;
    use two::read;
    let error = load(READ, Format::Yaml, &registry![open, read]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "8:5: `read` reads `page` as `documents::two::Page`, and it is `documents::one::Page` [F008]\nat /nodes/1"
    );
}

/// ME-10 with D-43, as far as documents have settings: what is unknown, missing without a default, or
/// of another type is an error, and not a default that nobody asked for.
#[test]
fn settings_that_do_not_fit() {
    let with = |params: &str| changed("type: revise, id: revise", params);
    assert_eq!(
        with("type: Prefix, id: revise, params: { txt: a }"),
        "9:43: `Prefix` has no setting `txt` [F015]\nat /nodes/2/params/txt\nhelp: did you mean `text`?"
    );
    assert_eq!(
        with("type: Prefix, id: revise"),
        "9:5: these are not the settings of `Prefix`: missing field `text` [F016]\nat /nodes/2/params"
    );
    assert_eq!(
        with("type: Prefix, id: revise, params: { text: 7 }"),
        "9:49: these are not the settings of `Prefix`: invalid type: integer `7`, expected a string [F016]\nat \
         /nodes/2/params/text"
    );
    assert_eq!(
        with("type: revise, id: revise, params: { text: a }"),
        "9:33: `revise` is a function, and has no settings [F023]\nat /nodes/2/params\nhelp: remove `params`"
    );
}

#[test]
fn ports_that_the_program_does_not_have() {
    assert_eq!(
        changed(
            "type: write, id: write",
            "type: write, id: write, inputs: { type: object, properties: { subject: {} } }"
        )
        .lines()
        .next(),
        Some("7:31: `write` reads `topic`, and the document does not say so [F023]")
    );
    assert_eq!(
        changed(
            "type: review, id: review",
            "type: review, id: review, actions: [{ name: approved }]"
        )
        .lines()
        .next(),
        Some(
            "8:33: the actions of `review` are not these: the document and the program differ in \"rejected\" [F023]"
        )
    );
}

#[test]
fn a_flow_that_runs_reports_its_input() {
    let registry = registry![write, review, revise];
    let flow = load(SOUND, Format::Yaml, &registry).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let ran = |input| match runtime.block_on(flow.run(input)) {
        Ok(output) => output.to_string(),
        Err(error) => error.to_string(),
    };
    let said = ran(serde_json::json!({ "topic": "crabs" }));
    assert_eq!(said, r#"{"draft":"About crabs","end":"default"}"#);
    assert_eq!(ran(serde_json::json!({})), "input `topic`: it is missing");
    assert!(ran(serde_json::json!({ "topic": 1 })).contains("expected a string"));
    assert!(ran(serde_json::json!([])).contains("not a JSON object"));
}

#[test]
fn more_nodes_than_engines_can_count() {
    let nodes: Vec<String> = (0..65_536)
        .map(|node| format!(r#"{{"type":"write","id":"n{node}"}}"#))
        .collect();
    let text = format!(
        r#"{{"version":"2.0.0","namespace":"a","name":"A","entryNodeId":"n0","nodes":[{}],"edges":[]}}"#,
        nodes.join(",")
    );
    let error = load(text, Format::Json, &registry![write]).unwrap_err();
    let first = &error.problems()[0];
    assert_eq!(first.message, "this flow has more than 65535 nodes");
    assert_eq!(error.problems().len(), 1);
}

#[node(writes = draft)]
fn try_out(draft: &str) -> Result<String, String> {
    Ok(draft.to_owned())
}

#[node(writes = draft)]
fn use_up(draft: String) -> Result<String, String> {
    Ok(draft)
}

#[node(writes = draft, retry(attempts = 2))]
fn use_up_clones(draft: String) -> Result<String, String> {
    Ok(draft)
}

/// As `flow!` says it of `with retry(…)`.
#[test]
fn attempts_that_a_node_cannot_make() {
    let with = |node: &str| {
        let nodes = "  - { type: revise, id: revise }\n";
        let node = format!("  - {{ {node}, settings: {{ retry: {{ attempts: 3 }} }} }}\n");
        let text = SOUND.replacen(nodes, &node, 1);
        let registry = registry![write, review, revise, try_out, use_up, use_up_clones];
        let loaded = load(text, Format::Yaml, &registry);
        loaded.map_or_else(|error| error.to_string(), |_| "sound".to_owned())
    };
    assert_eq!(with("type: try_out, id: revise"), "sound");
    assert_eq!(with("type: use_up_clones, id: revise"), "sound");
    assert_eq!(
        with("type: use_up, id: revise"),
        "9:45: `revise` takes a value that its first attempt uses up [F012]\nat /nodes/2/settings/retry\n\
         help: read it by reference, or put a `retry` on its `#[node]`, so that each attempt gets a clone"
    );
    assert_eq!(
        with("type: revise, id: revise"),
        "9:45: `revise` cannot fail, so there is nothing to retry [F013]\nat /nodes/2/settings/retry\n\
         help: let it return a `Result`, or remove this"
    );
}

#[test]
fn a_timeout_of_what_never_awaits() {
    let node = "  - { type: revise, id: revise }\n";
    let limited = "  - { type: revise, id: revise, settings: { timeout: 1s } }\n";
    let text = SOUND.replacen(node, limited, 1);
    let loaded = load(text, Format::Yaml, &registry![write, review, revise]);
    assert_eq!(
        loaded.map(drop).unwrap_err().to_string(),
        "9:54: `revise` never awaits, so a `timeout` cannot end it [F015]\nat /nodes/2/settings/timeout\n\
         help: make it an `async fn`, or write `#[node(blocking)]` if it blocks"
    );
}

#[tokio::test]
async fn an_input_has_its_default_if_it_is_left_out() {
    let with = |default: &str| {
        let declared = format!("topic: {{ default: {default} }} }} }}");
        let text = SOUND.replacen("topic: {} }, required: [topic] }", &declared, 1);
        load(text, Format::Yaml, &registry![write, review, revise])
    };
    let flow = with("old maps").unwrap();
    let ran = async |input| flow.run(input).await.unwrap()["draft"].clone();
    assert_eq!(ran(serde_json::json!({})).await, "About old maps");
    assert_eq!(
        ran(serde_json::json!({ "topic": null })).await,
        "About old maps"
    );
    assert_eq!(
        ran(serde_json::json!({ "topic": "crabs" })).await,
        "About crabs"
    );
    assert_eq!(
        with("7").unwrap_err().to_string(),
        "4:57: the default of `topic` is not a `String`: invalid type: integer `7`, expected a string [F008]\nat \
         /inputs/properties/topic/default"
    );
}

/// An inner flow has its own default, and an execution keeps the one with which it began.
#[tokio::test]
async fn an_inner_flow_and_a_journal_have_defaults_too() {
    let inner = SOUND.replace(
        "topic: {} }, required: [topic] }",
        "topic: { default: tides } } }",
    );
    let inner = inner.lines().map(|line| format!("      {line}\n"));
    let outer = format!(
        "version: 2.0.0\nname: Outer\nnamespace: outer\n\
         inputs: {{ type: object, properties: {{ note: {{ default: [1] }} }} }}\n\
         outputs: {{ type: object, properties: {{ note: {{}}, draft: {{}} }}, required: [note, draft] }}\n\
         nodes:\n  - type: Article\n    id: article\n    \
         outputs: {{ type: object, properties: {{ draft: {{}} }}, required: [draft] }}\n    \
         internalFlow:\n{}edges: []\nends:\n  - {{ from: article, condition: default, label: default }}\n",
        inner.collect::<String>(),
    );
    let registry = registry![write, review, revise];
    let flow = load(outer, Format::Yaml, &registry).unwrap_or_else(|error| panic!("{error}"));
    let runtime = flow_durable::Runtime::new(flow_durable::MemoryStore::new());
    runtime.register(std::sync::Arc::new(flow)).unwrap();
    let options = flow_durable::StartOptions::new();
    let started = runtime
        .executions()
        .start_json("Outer", serde_json::json!({}), options)
        .await
        .unwrap();
    let ended = started.settled().await.unwrap();
    let output = ended.output_json().unwrap().unwrap();
    assert_eq!(
        output,
        serde_json::json!({ "note": [1], "draft": "About tides", "end": "default" })
    );
    let journal = ended.journal().await.unwrap();
    assert!(
        journal[0].payload.to_string().contains(r#""note":[1]"#),
        "{:?}",
        journal[0]
    );
}

/// A value that is only in memory.
#[derive(Debug)]
pub struct Handle;

#[node(writes = one)]
fn first(number: &u64) -> Handle {
    assert!(*number > 0);
    Handle
}

#[node(writes = two)]
fn second(number: &u64) -> u64 {
    number + 1
}

flow! {
    Both(number: u64) -> (one: Handle, two: u64) {
        start >> first >> second >> end;
    }
}

flow! {
    Second(number: u64) -> (two: u64, number: u64) {
        start >> second >> end;
    }
}

flow! {
    AllBoth(numbers: Vec<u64>) -> (boths: Vec<BothOutput>) {
        node boths: for number in numbers { Both };
        start >> boths >> end;
    }
}

#[node]
fn seconds(all: &[SecondOutput]) -> usize {
    all.len()
}

flow! {
    Seconds(numbers: Vec<u64>) -> (seconds: usize) {
        node all: for number in numbers { Second };
        start >> all >> seconds >> end;
    }
}

/// Results that have no type in the program are JSON, which these are not.
#[test]
fn results_of_a_loop_that_cannot_be_json() {
    let nodes = registry![first, second, seconds];
    let said = |spec: &str| {
        let error = load(spec, Format::Json, &nodes).unwrap_err();
        assert_eq!(error.problems().len(), 1, "{error}");
        error.to_string()
    };
    assert_eq!(
        said(AllBoth::SPEC),
        "1:351: `boths` cannot keep its results as JSON: `one` of `Both` is a `Handle`, which is not \
         `Serialize` and `Deserialize` [F023]\nat /nodes/0\nhelp: derive both for `Handle`"
    );
    assert_eq!(
        said(Seconds::SPEC),
        "1:347: `all` writes `all` as JSON, and `Vec<SecondOutput>`, as which it is read, is not \
         `Serialize` and `Deserialize` [F008]\nat /nodes/0\nhelp: derive both; the derives of a flow go \
         to its output as well"
    );
}

/// A loop over a flow that returns nothing has no results to list.
#[test]
fn results_of_a_loop_over_nothing() {
    let document = "
version: 2.0.0
name: Loops
namespace: loops
inputs: { type: object, properties: { numbers: {} }, required: [numbers] }
entryNodeId: done
nodes:
  - type: flow.each
    id: done
    params: { item: number, over: numbers, body: seen }
    outputs: { type: object, properties: { done: {} }, required: [done] }
  - { type: seen, id: seen }
edges: []
ends:
  - { from: done, condition: default, label: default }
";
    let error = load(document, Format::Yaml, &registry![seen]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "8:5: `done` has no results: `seen` returns nothing [F023]\nat /nodes/0\nhelp: remove `outputs`"
    );
}

#[node]
fn entry(entry: (u64, String)) -> String {
    entry.1
}

flow! {
    Entries(map: std::collections::BTreeMap<u64, String>) -> (entries: Vec<String>) {
        node entries: for entry in map { entry };
        start >> entries >> end;
    }
}

/// The type of an item does not tell which collection it is in.
#[test]
fn a_collection_of_a_type_that_the_program_does_not_know() {
    let error = load(Entries::SPEC, Format::Json, &registry![entry]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "1:401: `entries` loops over a `BTreeMap<u64, String>`, which no registered node reads or writes \
         [F008]\nat /nodes/0/params/over\nhelp: register a node that reads it: the type of an item does \
         not tell which collection it is in"
    );
}

#[node]
fn seen(number: &u64) {
    let _ = number;
}

/// No node says what type the name has, so it is JSON. A text is shown without its quotes, as the
/// flow that was compiled shows it.
#[tokio::test]
async fn a_prompt_shows_texts_of_no_known_type() {
    let text = "
version: 2.0.0
name: Asks
namespace: asks
inputs: { type: object, properties: { name: {}, list: {} }, required: [name, list] }
outputs: { type: object, properties: { answer: {} }, required: [answer] }
nodes:
  - type: flow.human
    id: ask
    params: { prompt: 'May {name} go with {list}?' }
edges: []
ends: [{ from: ask, condition: default, label: default }]
";
    let flow = load(text, Format::Yaml, &registry![]).unwrap_or_else(|error| panic!("{error}"));
    let options = RunOptions::answer(|question: &flow_runtime::Question| {
        serde_json::Value::from(question.prompt())
    });
    let input = serde_json::json!({ "name": "Ann \"A\"", "list": ["a"] });
    let output = flow.run_with(input, options).await.unwrap();
    assert_eq!(output["answer"], "May Ann \"A\" go with [\"a\"]?");
}

struct Ledger;

#[node(transaction)]
async fn post(tx: &mut Ledger, topic: &str) -> usize {
    std::mem::size_of_val(tx) + topic.len()
}

const POSTING: &str = "
version: 2.0.0
name: Posting
namespace: posting
inputs: { type: object, properties: { topic: {} }, required: [topic] }
nodes: [{ type: post, id: post }]
edges: []
ends: [{ from: post, condition: default, label: default }]
";

/// Whether a node writes in a transaction is not up to the document.
#[test]
fn a_node_with_a_transaction_is_one_whatever_the_document_says() {
    let claimed = changed(
        "type: write, id: write",
        "type: write, id: write, settings: { transaction: true }",
    );
    assert_eq!(
        claimed,
        "7:56: `write` does not write in a transaction [F023]\nat /nodes/0/settings/transaction\nhelp: remove \
         `transaction`: it says what `#[node(transaction)]` does, and does nothing by itself"
    );
    let flow = load(POSTING, Format::Yaml, &registry![post]).unwrap();
    let runtime = flow_durable::Runtime::new(flow_durable::MemoryStore::new());
    let refused = runtime.register(std::sync::Arc::new(flow)).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the flow `Posting` cannot run on this store: `post` writes in a transaction, and the store has no database"
    );
}
