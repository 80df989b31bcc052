//! Workflows of OpenAgents: OA-01 and OA-03 to OA-05 of the conformance cases.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use flow_loader::{Format, Registry, load, registry};
use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{finished, problems, run};

pub(crate) const SEQUENTIAL: &str = include_str!("sequential.json");
pub(crate) const APPROVAL: &str = include_str!("approval.json");
pub(crate) const PARALLEL: &str = include_str!("parallel.json");

#[node]
fn planner(input: &str) -> String {
    format!("a plan for {input}")
}

/// What was written, with how often it was written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Code {
    version: u32,
    why: String,
}

#[node]
fn coder(plan: &str, code: Option<&Code>, error: Option<&NodeError>) -> Code {
    let version = code.map_or(1, |code| code.version + 1);
    let why = error.map_or_else(|| plan.to_owned(), |error| format!("{error:#}"));
    Code { version, why }
}

/// Is not content with the first version of a search.
#[node(writes = report)]
fn tester(cx: &Context, input: &str, code: &Code) -> Result<String, String> {
    let attempt = cx.attempt() + 1;
    match (input, code.version) {
        ("search", 1) => Err(format!("call {attempt} does not compile")),
        (_, version) => Ok(format!("version {version} passed at call {attempt}")),
    }
}

/// Is not content with the first version of a button.
#[node]
fn reviewer(input: &str, code: &Code, test: &str) -> Result<bool, String> {
    match (input, code.version) {
        ("button", 1) => Err(format!("it is hard to read, but {test}")),
        _ => Ok(true),
    }
}

pub(crate) fn developers() -> Registry {
    registry![planner, coder, tester, reviewer]
}

/// The workflow of JSON, with one change.
fn changed(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "{from}");
    text.replacen(from, to, 1)
}

/// OA-01, the sequential example.
#[tokio::test(start_paused = true)]
async fn errors_of_the_test_and_of_the_review_go_back_to_the_code() {
    let flow = load(SEQUENTIAL, Format::Json, &developers()).unwrap();
    let ran = async |input: &str| run(&flow, json!({ "input": input }), json!({})).await;

    let (_, happened) = ran("page").await;
    assert_eq!(finished(&happened), ["plan", "code", "test", "review"]);

    let (output, happened) = ran("search").await;
    assert_eq!(
        finished(&happened),
        ["plan", "code", "test error", "code", "test", "review"]
    );
    for call in 1..=3 {
        let text = format!("call {call} does not compile");
        assert!(happened.iter().any(|line| line.contains(&text)), "{text}");
    }
    let why = "node `feature.test` failed after 3 attempts: call 3 does not compile";
    assert_eq!(
        output.unwrap(),
        json!({
            "input": "search",
            "plan": "a plan for search",
            "code": { "version": 2, "why": why },
            "test": "version 2 passed at call 1",
            "review": true,
            "end": "default",
        })
    );

    let (_, happened) = ran("button").await;
    assert_eq!(
        finished(&happened),
        [
            "plan",
            "code",
            "test",
            "review error",
            "code",
            "test",
            "review"
        ]
    );
}

#[node]
fn builder(input: &str) -> String {
    format!("{input}.tar")
}

#[node]
fn checker(build: &str) -> Result<u32, String> {
    match build {
        "broken.tar" => Err("it does not start".into()),
        build => Ok(build.len() as u32),
    }
}

/// Returns nothing, so that it has no result.
#[node]
fn deployer(_build: &str) {}

#[node(human = "Approve?")]
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Approval {
    Approve,
    Reject { reason: String },
}

pub(crate) fn operators() -> Registry {
    registry![builder, checker, deployer, Approval]
}

/// OA-01, the approval gate; and D-42: the output says which end was reached.
#[tokio::test(start_paused = true)]
async fn somebody_approves_of_a_deployment_or_rejects_it() {
    let flow = load(APPROVAL, Format::Json, &operators()).unwrap();
    let ran = async |input: &str, answer: Value| {
        let answers = json!({ "release.approve": answer });
        run(&flow, json!({ "input": input }), answers).await
    };
    let (output, happened) = ran("app", json!("approve")).await;
    assert_eq!(
        finished(&happened),
        ["build", "check", "approve approve", "deploy"]
    );
    assert_eq!(
        output.unwrap(),
        json!({ "input": "app", "build": "app.tar", "check": 7, "end": "default" })
    );

    let (output, happened) = ran("app", json!({ "reject": { "reason": "it is Friday" } })).await;
    assert_eq!(finished(&happened), ["build", "check", "approve reject"]);
    assert_eq!(output.unwrap()["end"], "rejected");

    let (output, happened) = ran("broken", json!(null)).await;
    assert_eq!(finished(&happened), ["build", "check error"]);
    assert_eq!(
        output.unwrap(),
        json!({ "input": "broken", "build": "broken.tar", "end": "failed" })
    );
}

/// The message of a workflow is what people see, and its braces are braces.
#[tokio::test]
async fn a_question_has_the_message_of_its_step() {
    let flow = load(APPROVAL, Format::Json, &operators()).unwrap();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let prompts = asked.clone();
    let options = RunOptions::answer(move |question: &flow_runtime::Question| {
        prompts.lock().unwrap().push(question.prompt().to_owned());
        Approval::Approve
    });
    flow.run_with(json!({ "input": "app" }), options)
        .await
        .unwrap();
    assert_eq!(*asked.lock().unwrap(), ["Deploy to {production}?"]);
}

/// An agent that takes a while, so that agents one after the other would take longer.
macro_rules! looking {
    ($($agent:ident)*) => {$(
        #[node]
        async fn $agent(input: &str) -> String {
            tokio::time::sleep(Duration::from_millis(100)).await;
            format!("{} of {input}", stringify!($agent))
        }
    )*};
}
looking!(security style tests);

#[node]
fn reporter(look_security: &str, look_style: &str, look_tests: &str) -> String {
    [look_security, look_style, look_tests].join(", ")
}

pub(crate) fn reviewers() -> Registry {
    registry![security, style, tests, reporter]
}

/// OA-01, the parallel example.
#[tokio::test(start_paused = true)]
async fn agents_look_at_the_same_time() {
    let flow = load(PARALLEL, Format::Json, &reviewers()).unwrap();
    let began = Instant::now();
    let output = flow.run(json!({ "input": "a change" })).await.unwrap();
    assert_eq!(began.elapsed().as_millis(), 100);
    assert_eq!(
        output["report"],
        "security of a change, style of a change, tests of a change"
    );
    // In the order of the list.
    let keys: Vec<&String> = output.as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        [
            "input",
            "look_security",
            "look_style",
            "look_tests",
            "report",
            "end"
        ]
    );
    let (_, happened) = run(&flow, json!({ "input": "" }), json!({})).await;
    assert_eq!(
        finished(&happened),
        [
            "look_security",
            "look_style",
            "look_tests",
            "look",
            "report"
        ]
    );
}

/// OA-03: four mistakes, and four different errors.
#[test]
fn what_was_ignored_is_an_error() {
    let of = |text: String| problems(&text, &developers());
    assert_eq!(
        of(changed(
            SEQUENTIAL,
            r#""on_success": "code""#,
            r#""on_success": "cod""#
        )),
        ["5:72: there is no step `cod` [F004]"]
    );
    assert_eq!(
        of(r#"{ "id": "empty", "steps": [] }"#.to_owned()),
        ["1:18: the workflow has no steps [F018]"]
    );
    assert_eq!(
        of(changed(
            SEQUENTIAL,
            r#""agent": "planner","#,
            r#""agent": "planner", "message": "Go?","#
        )),
        ["5:58: there is no field `message` here [F023]"]
    );
    let condition = r#"{ "id": "test", "type": "condition", "cases": [] }"#;
    let first = SEQUENTIAL.find("{\n      \"id\": \"test\"").unwrap();
    let last = SEQUENTIAL[first..].find('}').unwrap() + first + 1;
    let text = format!("{}{condition}{}", &SEQUENTIAL[..first], &SEQUENTIAL[last..]);
    assert_eq!(of(text), ["7:5: `default` is missing [F023]"]);
}

/// D-42: what is not routed does not go the way of success.
#[test]
fn a_rejection_that_leads_nowhere_is_an_error() {
    let text = changed(APPROVAL, ",\n      \"on_reject\": \"end\"", "");
    assert_eq!(
        problems(&text, &operators()),
        ["7:5: `on_reject` is missing [F023]"]
    );
}

pub(crate) const CONDITION: &str = r#"{
  "id": "sizes",
  "steps": [
    { "id": "measure", "type": "agent", "agent": "measurer", "on_success": "decide" },
    {
      "id": "decide",
      "type": "condition",
      "cases": [
        { "when": "measure > 10 && input != 'a long exception'", "then": "shorten" },
        { "when": "measure > 5", "then": "end" },
        { "when": "measure > 4", "then": "shorten" }
      ],
      "default": "pad"
    },
    { "id": "shorten", "type": "agent", "agent": "shortener", "on_success": "end" },
    { "id": "pad", "type": "agent", "agent": "padder", "on_success": "end" }
  ]
}"#;

#[node]
fn measurer(input: &str) -> usize {
    input.len()
}

#[node]
fn shortener(input: &str) -> String {
    input.chars().take(3).collect()
}

#[node]
fn padder(input: &str) -> String {
    format!("{input:_<8}")
}

pub(crate) fn measurers() -> Registry {
    registry![measurer, shortener, padder]
}

/// OA-03: a `condition` works with cases and a default; the first case that is true decides.
#[tokio::test(start_paused = true)]
async fn the_first_case_that_is_true_decides() {
    let flow = load(CONDITION, Format::Json, &measurers()).unwrap();
    for (input, decided, result) in [
        (
            "a long sentence",
            "decide shorten",
            json!({ "shorten": "a l" }),
        ),
        ("a long exception", "decide end", json!({})),
        ("sixsix", "decide end", json!({})),
        ("fives", "decide shorten", json!({ "shorten": "fiv" })),
        ("four", "decide pad", json!({ "pad": "four____" })),
    ] {
        let (output, happened) = run(&flow, json!({ "input": input }), json!({})).await;
        assert_eq!(finished(&happened)[1], decided);
        let mut expected = json!({ "input": input, "measure": input.len() });
        let results = result.as_object().unwrap().clone();
        expected.as_object_mut().unwrap().extend(results);
        expected["end"] = "default".into();
        assert_eq!(output.unwrap(), expected);
    }
}

#[node]
fn failing(cx: &Context, input: &str) -> Result<String, String> {
    Err(format!("{input} {}", cx.attempt()))
}

/// OA-04: pauses double, and the last error is kept.
#[tokio::test(start_paused = true)]
async fn pauses_between_attempts_double() {
    let text = |retry: &str| {
        format!(
            r#"{{ "id": "w", "steps": [
                {{ "id": "call", "type": "agent", "agent": "failing", "on_success": "end"{retry} }}
            ] }}"#
        )
    };
    for (retry, attempts, milliseconds) in [
        (
            r#", "max_retries": 4, "retry_delay": 100"#,
            4,
            [100, 200, 400].iter().sum(),
        ),
        (r#", "max_retries": 1, "retry_delay": 100"#, 1, 0),
        (r#", "max_retries": 3"#, 3, 0),
        ("", 1, 0),
    ] {
        let flow = load(text(retry), Format::Json, &registry![failing]).unwrap();
        let began = Instant::now();
        let ran = super::support::plain(&flow, &json!({ "input": "call" })).await;
        assert_eq!(began.elapsed().as_millis(), milliseconds, "{retry}");
        let times = if attempts == 1 { "attempt" } else { "attempts" };
        let last = attempts - 1;
        let error = format!("node `w.call` failed after {attempts} {times}: call {last}");
        assert_eq!(ran.ended, Err(error));
        let (ended, _) = run(&flow, json!({ "input": "call" }), json!({})).await;
        assert!(ended.is_err());
    }
    assert_eq!(
        problems(&text(r#", "max_retries": 0"#), &registry![failing]),
        ["2:106: `max_retries` is 0, and should be the number of all calls, at least 1 [F023]"]
    );
}

/// What was held by steps.
static HELD: Mutex<Vec<Code>> = Mutex::new(Vec::new());

/// Holds what it wrote before.
#[node]
fn holder(hold: Option<&Code>) -> Code {
    HELD.lock().unwrap().extend(hold.cloned());
    let version = hold.map_or(0, |code| code.version) + 1;
    Code {
        version,
        why: "next".into(),
    }
}

#[node]
fn counter(hold: &Code) -> Result<u32, String> {
    match hold.version {
        1 => Err("once more".into()),
        version => Ok(version),
    }
}

/// OA-05: a step cannot change what another one holds, and the newest result is read.
#[tokio::test(start_paused = true)]
async fn what_a_step_holds_stays_as_it_was() {
    let text = r#"{ "id": "w", "steps": [
        { "id": "hold", "type": "agent", "agent": "holder", "on_success": "count" },
        { "id": "count", "type": "agent", "agent": "counter", "on_success": "end", "on_error": "hold" }
    ] }"#;
    let flow = load(text, Format::Json, &registry![holder, counter]).unwrap();
    let ran = super::support::durable(Arc::new(flow), &json!({ "input": 1 }), &json!({})).await;
    let output = ran.ended.unwrap();
    assert_eq!(
        (&output["hold"]["version"], &output["count"]),
        (&json!(2), &json!(2))
    );
    let held = HELD.lock().unwrap();
    assert_eq!(
        held.iter().map(|code| code.version).collect::<Vec<_>>(),
        [1]
    );
    for version in ["1", "2"] {
        let result = format!(r#""version":{version}"#);
        assert!(
            ran.happened.iter().any(|record| record.contains(&result)),
            "{result}"
        );
    }
}

#[node(writes(left, right))]
fn pair(input: &str) -> (String, String) {
    (input.to_owned(), input.to_owned())
}

#[derive(Action)]
enum Opinion {
    Good,
    Bad,
}

#[node(actions = Opinion)]
fn judge(input: &str) -> Opinion {
    if input.is_empty() {
        Opinion::Bad
    } else {
        Opinion::Good
    }
}

/// Each mistake is one error, at the word that was written, with what the author of a workflow can
/// do.
#[test]
fn advice_is_for_the_author_of_a_workflow() {
    let step = |step: &str| {
        let text = format!(r#"{{ "id": "w", "steps": [ {{ {step}, "on_success": "end" }} ] }}"#);
        let registry = registry![planner, coder, pair, judge];
        load(text, Format::Json, &registry).unwrap_err().to_string()
    };
    let agent = |agent: &str| {
        step(&format!(
            r#""id": "plan", "type": "agent", "agent": "{agent}""#
        ))
    };
    assert_eq!(
        agent("planer"),
        "1:67: no node `planer` is registered [F004]\nat /steps/0/agent\nhelp: did you mean `planner`?"
    );
    assert_eq!(
        step(r#""id": "code", "type": "agent", "agent": "coder""#),
        "1:25: `code` reads `plan`, which nothing writes [F007]\nat /steps/0\n\
         help: let an earlier step write it, add it to `context`, or let the node read it as an `Option`"
    );
    assert_eq!(
        agent("pair"),
        "1:67: `pair` writes several values: `left`, `right` [F023]\nat /steps/0/agent\n\
         help: let it return one value, such as a struct"
    );
    assert_eq!(
        agent("judge"),
        "1:90: `plan` has no action \"default\": it takes \"good\", \"bad\" [F001]\nat /steps/0/on_success\n\
         help: use a node without actions: a workflow knows only success and errors"
    );
    assert_eq!(
        agent(r#"planner", "on_error": "end"#),
        "1:90: `plan` cannot fail, so it never takes \"error\" [F013]\nat /steps/0/on_error\n\
         help: let the node return a `Result`, or remove this"
    );
    assert_eq!(
        step(r#""id": "error", "type": "agent", "agent": "planner""#),
        "1:33: `error` is the error of the step that failed last [F017]\nat /steps/0/id\n\
         help: give the step another id"
    );
    assert_eq!(
        step(
            r#""id": "a-b", "type": "agent", "agent": "planner", "on_success": "a_b" }, { "id": "a_b", "type": "agent", "agent": "planner""#
        ),
        "1:108: the results of `a-b` and `a_b` are both called `a_b` [F017]\nat /steps/1/id\n\
         the first one (line 1, column 33)\nhelp: give the step another id"
    );
}

/// What steps are given besides the input, and what the caller may change.
#[tokio::test(start_paused = true)]
async fn the_context_has_values_from_the_beginning() {
    let text = r#"{
        "id": "w",
        "context": { "code": { "version": 7, "why": "it was there" } },
        "steps": [ { "id": "test", "type": "agent", "agent": "tester", "on_success": "end" } ]
    }"#;
    let flow = load(text, Format::Json, &registry![tester]).unwrap();
    let (output, _) = run(&flow, json!({ "input": "page" }), json!({})).await;
    assert_eq!(output.unwrap()["test"], "version 7 passed at call 1");
    let input = json!({ "input": "page", "code": { "version": 8, "why": "" } });
    let (output, _) = run(&flow, input, json!({})).await;
    assert_eq!(output.unwrap()["test"], "version 8 passed at call 1");
}
