//! Flows with scripted nodes.

use std::time::Duration;

use flow_runtime::prelude::*;
use flow_runtime::testing::{Scripted, ScriptedRun};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

#[derive(Action, Serialize, Deserialize)]
enum Verdict {
    Accepted { price: u64 },
    Rejected,
}

#[node(actions = Verdict, retry(attempts = 3, wait = "1h"))]
async fn judge(offer: &str) -> Result<Verdict, String> {
    Err(format!("nobody judges {offer}"))
}

#[node(writes(receipt, number))]
fn pay(price: &u64) -> (String, u32) {
    (format!("paid {price}"), 1)
}

#[node(writes = offer)]
fn improve(offer: String) -> String {
    offer + "!"
}

#[derive(Serialize, Deserialize, Debug, PartialEq)]
#[node(human = "Send {receipt}?")]
enum Consent {
    Yes { to: String },
    No,
}

flow! {
    Sale(offer: String) -> (receipt: Option<String>, to: Option<String>) {
        start >> judge;
        judge - "accepted" >> pay >> wait(24h) >> Consent;
        judge - "rejected" >> improve >> judge;
        judge - "error" >> end("broken");
        Consent - "yes" >> end;
        Consent - "no" >> end("kept");
    }
}

fn offer() -> SaleInput {
    SaleInput {
        offer: "a boat".to_owned(),
    }
}

fn accepts() -> Scripted {
    Scripted::new().node::<judge>(|visit| match visit.number() {
        1 => Verdict::Rejected,
        _ => Verdict::Accepted { price: 7 },
    })
}

fn paths<O>(run: &ScriptedRun<O>) -> Vec<&str> {
    run.visits().iter().map(|visit| visit.path()).collect()
}

#[tokio::test(start_paused = true)]
async fn scripts_return_for_nodes_and_people_and_the_others_run() {
    let began = Instant::now();
    let scripted = accepts().node::<Consent>(|_| Consent::Yes {
        to: "Ann".to_owned(),
    });
    let run = scripted.run(&Sale::new(), offer()).await;
    assert_eq!(
        run.nodes(),
        ["judge", "improve", "judge", "pay", "wait", "consent"]
    );
    let numbers: Vec<u32> = run.visits_to("sale.judge").map(|it| it.number()).collect();
    assert_eq!(numbers, [1, 2]);
    let output = run.into_result().unwrap();
    assert_eq!(output.receipt.as_deref(), Some("paid 7"));
    assert_eq!(output.to.as_deref(), Some("Ann"));
    assert_eq!(began.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_scripted_failure_is_the_last_one() {
    let began = Instant::now();
    let scripted = Scripted::new().try_node::<judge, _>(|_| Err("the judge is ill"));
    let run = scripted.run(&Sale::new(), offer()).await;
    assert_eq!(run.nodes(), ["judge"]);
    assert_eq!(run.result().unwrap().end, SaleEnd::Broken);
    assert_eq!(began.elapsed(), Duration::ZERO);

    // Without an edge for it, it is the run's.
    let scripted = accepts().try_node::<pay, _>(|_| Err("no money"));
    let run = scripted.run(&Sale::new(), offer()).await;
    let error = run.result().unwrap_err();
    assert_eq!(
        format!("{error:#}"),
        "node `sale.pay` failed after 1 attempt: no money"
    );
}

#[tokio::test]
async fn the_values_before_each_visit_can_be_looked_at() {
    let scripted = accepts()
        .node::<pay>(|_| ("paid".to_owned(), 3))
        .node::<Consent>(|_| Consent::No)
        .with_values();
    let run = scripted.run(&Sale::new(), offer()).await;
    let offers: Vec<_> = run
        .visits_to("sale.judge")
        .map(|it| it.value::<String>("offer").unwrap())
        .collect();
    assert_eq!(offers, ["a boat", "a boat!"]);
    let paid = run.visits_to("sale.pay").next().unwrap();
    assert_eq!(paid.value::<u64>("price"), Some(7));
    assert_eq!(paid.value::<String>("receipt"), None);
    let asked = run.visits_to("sale.consent").next().unwrap();
    assert_eq!(asked.value::<u32>("number"), Some(3));
    assert_eq!(run.result().unwrap().end, SaleEnd::Kept);
}

#[tokio::test]
#[should_panic(
    expected = "`price` was 7 before `sale.pay`: invalid type: integer `7`, expected a string"
)]
async fn a_value_of_another_type_fails_the_test() {
    let scripted = accepts().node::<Consent>(|_| Consent::No).with_values();
    let run = scripted.run(&Sale::new(), offer()).await;
    let paid = run.visits_to("sale.pay").next().unwrap();
    let _ = paid.value::<String>("price");
}

#[tokio::test]
#[should_panic(expected = "`sale.pay` has no script: add `.node::<pay>(…)`")]
async fn a_strict_script_fails_the_test_at_a_node_without_one() {
    let scripted = Scripted::strict()
        .node::<judge>(|_| Verdict::Accepted { price: 7 })
        .node::<Consent>(|_| Consent::No);
    let _ = scripted.run(&Sale::new(), offer()).await;
}

#[tokio::test]
#[should_panic(expected = "nobody answers `sale.consent`: add `.node::<Consent>(…)`")]
async fn a_question_that_nobody_answers_fails_the_test() {
    let _ = accepts().run(&Sale::new(), offer()).await;
}

#[node(writes = size)]
fn measure(word: &str) -> usize {
    word.len()
}

flow! {
    Measured(words: Vec<String>) -> (first: usize, second: usize, sizes: Vec<usize>) {
        node first: measure { word <- word, size -> first };
        node second: measure { word <- word, size -> second };
        node one: Word;
        node sizes: for word in words { measure };
        start >> one >> [first, second] >> sizes >> end;
    }
}

#[derive(Default)]
struct Word;

#[node(writes = word)]
impl Word {
    fn exec(&self, words: &[String]) -> String {
        words.concat()
    }
}

flow! {
    Twice(words: Vec<String>) -> (sizes: Vec<usize>, first: usize) {
        node inner: Measured with retry(attempts = 2);
        start >> inner >> end;
    }
}

#[tokio::test]
async fn nodes_are_scripted_in_forks_loops_and_flows_inside() {
    let scripted = Scripted::new()
        .node::<Word>(|_| "abc".to_owned())
        .node::<measure>(|visit| match visit.path() {
            "twice.inner.sizes[1]" => 20,
            _ => 10,
        })
        .node_at::<measure>("twice.inner.second", |_| 5);
    let words = vec!["a".to_owned(), "b".to_owned()];
    let flow = Twice::builder()
        .inner(Measured::builder().one(Word).build())
        .build();
    let run = scripted.run(&flow, TwiceInput { words }).await;
    let paths = paths(&run);
    assert_eq!(paths[..2], ["twice.inner", "twice.inner.one"]);
    for path in [
        "twice.inner.first",
        "twice.inner.second",
        "twice.inner.sizes[0]",
        "twice.inner.sizes[1]",
    ] {
        assert!(paths.contains(&path), "{paths:?}");
    }
    let output = run.into_result().unwrap();
    assert_eq!((output.sizes, output.first), (vec![10, 20], 10));
}

#[tokio::test]
async fn visits_count_anew_in_each_attempt_at_a_flow() {
    let scripted = Scripted::new()
        .node::<Word>(|_| "abc".to_owned())
        .try_node::<measure, _>(|visit| match visit.path() {
            "twice.inner.first" => Err("no rule".to_owned()),
            _ => Ok(1),
        });
    let flow = Twice::builder()
        .inner(Measured::builder().one(Word).build())
        .build();
    let run = scripted.run(&flow, TwiceInput { words: vec![] }).await;
    let words: Vec<u32> = run
        .visits_to("twice.inner.one")
        .map(|it| it.number())
        .collect();
    assert_eq!(words, [1, 1]);
    assert!(run.result().is_err());
}

flow_law::law! {
    nodes: [judge, pay, improve, Consent, measure, Word],
    flows: [
        Sale,
        Measured,
        Twice,
    ],
}
