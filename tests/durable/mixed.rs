//! A run that is stopped anywhere, in flows that have everything in everything.

use flow_durable::OpenQuestion;
use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::flows::work;
use crate::prefixes::{the_same_after_each_crash, the_same_from_everywhere};

/// What somebody thinks of an item.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[node(human = "How many points has {item}?", writes = opinion)]
pub(crate) struct Opinion {
    points: u64,
}

#[node(writes = risky)]
async fn risky(cx: &Context, item: &u64) -> Result<u64, String> {
    work(cx, 50).await;
    match item {
        2 => Err("not this one".to_owned()),
        item => Ok(item * 100),
    }
}

#[node(writes = score)]
async fn score(cx: &Context, opinion: &Opinion, risky: &u64) -> u64 {
    work(cx, 10).await;
    opinion.points + risky
}

flow! {
    pub(crate) Each(item: u64) -> (score: u64) {
        start >> [Opinion, risky >> wait(30ms)] >> score >> end;
    }
}

#[node(writes = refused)]
fn refused(scores: &[Result<u64, NodeError>]) -> Vec<String> {
    let errors = scores.iter().filter_map(|score| score.as_ref().err());
    errors
        .map(|error| format!("{}: {}", error.path(), error.error()))
        .collect()
}

#[node(writes = total)]
fn total(scores: &[Result<u64, NodeError>]) -> u64 {
    scores.iter().flatten().sum()
}

flow! {
    /// A loop over a flow that has a fork with a question, of which one fails again and again.
    pub(crate) Scores(items: Vec<u64>) -> (total: u64, refused: Vec<String>) {
        node scores: for item in items { Each } with concurrency(2), collect_errors, retry(attempts = 2, wait = "20ms");
        start >> scores >> [total, refused] >> end;
    }
}

/// AF-13, D-31
#[tokio::test(start_paused = true)]
async fn questions_in_forks_in_flows_in_a_loop() {
    fn answers(question: &OpenQuestion) -> Option<Value> {
        let item = question
            .prompt()
            .chars()
            .find(char::is_ascii_digit)?
            .to_digit(10)?;
        Some(json!({ "points": item + 1 }))
    }
    let input = || ScoresInput {
        items: vec![1, 2, 3, 4],
    };
    let output = the_same_from_everywhere(Scores::new, input, answers).await;
    let refused = ["scores.scores[1].risky: not this one"];
    assert_eq!(
        output,
        json!({ "total": 811, "refused": refused, "end": "default" })
    );
}

/// Whether it goes on.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[node(human = "Go on?", timeout = "2s", writes = hurry)]
pub(crate) struct Hurry {
    yes: bool,
}

/// Whether it goes on, at some time.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[node(human = "Go on at some time?", writes = whenever)]
pub(crate) struct Whenever {
    yes: bool,
}

#[node(writes = item)]
async fn next(cx: &Context, item: &u64) -> u64 {
    work(cx, 10).await;
    item + 1
}

flow! {
    pub(crate) Hurries(item: u64) -> (item: u64) {
        start >> next >> Hurry >> end;
    }
}

flow! {
    pub(crate) Sometime(item: u64) -> (item: u64) {
        start >> next >> Whenever >> next_again >> end;
    }
}

#[node(writes = item)]
async fn next_again(cx: &Context, item: &u64) -> u64 {
    work(cx, 10).await;
    item + 10
}

#[node(writes = causes)]
async fn cause(cx: &Context, error: &NodeError, causes: &[String]) -> Vec<String> {
    work(cx, 10).await;
    let mut causes = causes.to_vec();
    causes.push(format!("{error:#}"));
    causes
}

flow! {
    /// A flow that is tried again because nobody answers in it, one that takes too long because nobody does, and a loop back.
    pub(crate) Unanswered(item: u64, causes: Vec<String>) -> (item: u64, causes: Vec<String>) {
        node hurries: Hurries = Hurries::new() with retry(attempts = 2, wait = "20ms");
        node sometime: Sometime = Sometime::new() with timeout = "3s";
        node noted: cause;
        branch often(item) {
            *item > 20 => "yes",
            else => "no",
        }
        start >> hurries >> sometime >> often;
        hurries - "error" >> noted >> sometime;
        sometime - "error" >> next_again >> often;
        often - "no" >> hurries;
        often - "yes" >> end;
    }
}

/// A-036, D-28, D-36
#[tokio::test(start_paused = true)]
async fn questions_without_answers_in_flows_that_are_tried_again_or_take_too_long() {
    let input = || UnansweredInput {
        item: 1,
        causes: Vec::new(),
    };
    let output = the_same_after_each_crash(Unanswered::new, input, |_| None).await;
    let cause = "node `unanswered.hurries.hurry` failed after 1 attempt: timed out after 2s";
    assert_eq!(
        output,
        json!({ "item": 21, "causes": [cause, cause], "end": "default" })
    );
}

flow_law::law! {
    nodes: [Opinion, risky, score, refused, total, Hurry, Whenever, next, next_again, cause],
    flows: [
        Each,
        Scores,
        Hurries,
        Sometime,
        Unanswered,
    ],
}
