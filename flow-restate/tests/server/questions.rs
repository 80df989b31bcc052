//! Questions, and answers to them.

use std::time::Duration;

use flow_services::Restate;
use serde_json::{Value, json};

use crate::client::{
    IN_PARTS, WHOLE, attach, call, query, run, server_and_worker, server_and_worker_with, start,
};
use crate::flows::EVENTS;

/// An answer that fits.
pub(crate) fn good() -> Value {
    json!({ "Fine": { "by": "Ann" } })
}

/// Answers a question of a run, and returns the status and the text.
pub(crate) async fn answer(
    server: &Restate,
    run: &str,
    question: &str,
    answer: &Value,
) -> (u16, String) {
    let body = json!({ "question": question, "answer": answer });
    let path = format!("/{run}/answer");
    let answered = call(&server.ingress(), "POST", &path, &body).await;
    answered.unwrap()
}

/// The README's query for open questions.
fn query_of_readme() -> &'static str {
    let readme = include_str!("../../README.md");
    let (_, rest) = readme.split_once("{\"query\": \"").unwrap();
    rest.split_once("\"}").unwrap().0
}

/// The names of the open questions, and their descriptions.
pub(crate) async fn asked(server: &Restate) -> Vec<(String, Value)> {
    let rows = query(server, query_of_readme()).await;
    rows.iter()
        .map(|row| {
            let name = row["question"].as_str().unwrap().to_owned();
            let told = row["asked"].as_str().unwrap();
            (name, serde_json::from_str(told).unwrap())
        })
        .collect()
}

/// The names of all questions, open or not.
async fn asked_ever(server: &Restate) -> Vec<String> {
    let rows = query(
        server,
        "SELECT key FROM sys_promise WHERE key LIKE 'asked %'",
    )
    .await;
    rows.iter()
        .map(|row| {
            let key = row["key"].as_str().unwrap();
            key.strip_prefix("asked ").unwrap().to_owned()
        })
        .collect()
}

/// Waits until exactly this question is open.
pub(crate) async fn until_asked(server: &Restate, question: &str) {
    let mut found = Vec::new();
    for _ in 0..6000 {
        found = asked(server).await;
        if matches!(&found[..], [(name, _)] if name == question) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("`{question}` is not asked, or not alone: {found:?}");
}

#[tokio::test]
async fn is_answered_only_where_it_asks() {
    for settings in [WHOLE, IN_PARTS] {
        let Some((server, _worker)) = server_and_worker_with(settings).await else {
            return;
        };
        let run = "Asking/a";
        start(&server, "Asking", "a", &json!({ "number": 7 })).await;
        let (status, said) = answer(&server, run, "asking.verdct", &good()).await;
        assert_eq!(status, 404, "{said}");
        assert!(said.contains("`asking.verdct`"), "{said}");
        until_asked(&server, "asking.verdict").await;
        let told = &asked(&server).await[0].1;
        assert_eq!(told["prompt"], "Is 7 all right?");
        assert_eq!(told["path"], "asking.verdict");
        let bad = json!({ "Fine": {} });
        let (status, said) = answer(&server, run, "asking.verdict", &bad).await;
        assert_eq!(status, 400, "{said}");
        let answered = answer(&server, run, "asking.verdict", &good()).await;
        assert_eq!(answered.0, 200);
        let answered = answer(&server, run, "asking.verdict", &good()).await;
        assert_eq!(answered.0, 409);
        let output = attach(&server.ingress(), "Asking", "a").await;
        assert_eq!(output, Ok(json!({ "by": "Ann", "end": "late" })));
        // Too late, and to a run that is over.
        let answered = answer(&server, run, "asking.hurried", &good()).await;
        assert_eq!(answered.0, 409);
        assert_eq!(asked(&server).await, []);
    }
}

#[tokio::test]
async fn no_answer_is_taken_after_a_cancel() {
    for settings in [WHOLE, IN_PARTS] {
        let Some((server, _worker)) = server_and_worker_with(settings).await else {
            return;
        };
        let id = start(&server, "Asking", "a", &json!({ "number": 7 })).await;
        until_asked(&server, "asking.verdict").await;
        let path = format!("/invocations/{id}/cancel");
        let cancelled = call(&server.admin(), "PATCH", &path, &Value::Null).await;
        assert_eq!(cancelled.unwrap().0, 202);
        let (status, said) = attach(&server.ingress(), "Asking", "a").await.unwrap_err();
        assert_eq!(status, 409, "{said}");
        assert!(said.contains("the run was cancelled"), "{said}");
        let (status, said) = answer(&server, "Asking/a", "asking.verdict", &good()).await;
        assert_eq!(status, 409, "{said}");
        assert_eq!(asked(&server).await, []);
    }
}

#[tokio::test]
async fn no_answer_is_taken_when_the_flow_around_has_timed_out() {
    for settings in [WHOLE, IN_PARTS] {
        let Some((server, _worker)) = server_and_worker_with(settings).await else {
            return;
        };
        start(&server, "Hasty", "a", &json!({ "number": 7 })).await;
        until_asked(&server, "hasty.verdict").await;
        let mut earlier = asked_ever(&server).await;
        earlier.retain(|question| question != "hasty.verdict");
        assert_eq!(earlier.len(), 2, "{earlier:?}");
        for question in earlier {
            let (status, said) = answer(&server, "Hasty/a", &question, &good()).await;
            assert_eq!(status, 409, "{question}: {said}");
        }
        let answered = answer(&server, "Hasty/a", "hasty.verdict", &good()).await;
        assert_eq!(answered.0, 200);
        let output = attach(&server.ingress(), "Hasty", "a").await;
        assert_eq!(output, Ok(json!({ "by": "Ann", "end": "default" })));
    }
}

#[tokio::test]
async fn no_answer_is_taken_when_another_branch_has_failed() {
    for settings in [WHOLE, IN_PARTS] {
        let Some((server, _worker)) = server_and_worker_with(settings).await else {
            return;
        };
        let failed = run(&server, "Torn", "a", &json!({ "number": 7 })).await;
        let (status, said) = failed.unwrap_err();
        assert_eq!(status, 500);
        assert!(said.contains("7 is too much"), "{said}");
        let earlier = asked_ever(&server).await;
        assert_eq!(earlier.len(), 1, "{earlier:?}");
        let (status, said) = answer(&server, "Torn/a", &earlier[0], &good()).await;
        assert_eq!(status, 409, "{said}");
    }
}

/// The order of the journal decides: a replay takes the same branch.
#[tokio::test(flavor = "multi_thread")]
async fn a_race_that_is_decided_stays_so() {
    for settings in [WHOLE, IN_PARTS] {
        let Some((server, mut worker)) = server_and_worker_with(settings).await else {
            return;
        };
        start(&server, "Raced", "a", &json!({ "number": 7 })).await;
        until_asked(&server, "raced.verdict").await;
        let mut earlier = asked_ever(&server).await;
        earlier.retain(|question| question != "raced.verdict");
        assert_eq!(earlier, ["raced.outcome.opinion.verdict"]);
        tokio::task::block_in_place(|| worker.kill());
        worker.start_again();
        let (status, said) = answer(&server, "Raced/a", &earlier[0], &good()).await;
        assert_eq!(status, 409, "{said}");
        let answered = answer(&server, "Raced/a", "raced.verdict", &good()).await;
        assert_eq!(answered.0, 200);
        let output = attach(&server.ingress(), "Raced", "a").await;
        let expected = json!({ "square": 49, "by": "Ann", "end": "default" });
        assert_eq!(output, Ok(expected));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_wins_a_race_also_in_another_process() {
    let Some((server, mut worker)) = server_and_worker().await else {
        return;
    };
    start(&server, "Answered", "a", &json!({ "number": 7 })).await;
    until_asked(&server, "answered.outcome.verdict").await;
    tokio::task::block_in_place(|| worker.kill());
    worker.start_again();
    let answered = answer(&server, "Answered/a", "answered.outcome.verdict", &good()).await;
    assert_eq!(answered.0, 200);
    let output = attach(&server.ingress(), "Answered", "a").await;
    assert_eq!(output, Ok(json!({ "by": "Ann", "end": "default" })));
}

#[tokio::test]
async fn a_question_that_is_too_long_fails_the_run() {
    let Some((server, _worker)) = server_and_worker().await else {
        return;
    };
    let input = json!({ "number": 16_000_000 });
    let (status, said) = run(&server, "Talking", "a", &input).await.unwrap_err();
    assert_eq!(status, 500);
    let reason = "the question `talking.reading` has 320000";
    assert!(said.contains(reason), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_attempts_are_not_told_again_in_a_replay() {
    let Some((server, mut worker)) = server_and_worker().await else {
        return;
    };
    start(&server, "Stubborn", "a", &json!({ "number": 7 })).await;
    until_asked(&server, "stubborn.verdict").await;
    let told = failures_of_stubborn();
    assert_eq!(told.len(), 2, "{told:?}");
    tokio::task::block_in_place(|| worker.kill());
    worker.start_again();
    let answered = answer(&server, "Stubborn/a", "stubborn.verdict", &good()).await;
    assert_eq!(answered.0, 200);
    let output = attach(&server.ingress(), "Stubborn", "a").await;
    assert_eq!(output, Ok(json!({ "by": "Ann", "end": "default" })));
    assert_eq!(failures_of_stubborn(), told);
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_steps_are_replayed() {
    let Some((server, mut worker)) = server_and_worker().await else {
        return;
    };
    let input = json!({ "number": 0, "limit": 10_000 });
    start(&server, "Long", "a", &input).await;
    until_asked(&server, "long.verdict").await;
    tokio::task::block_in_place(|| worker.kill());
    worker.start_again();
    let answered = answer(&server, "Long/a", "long.verdict", &good()).await;
    assert_eq!(answered.0, 200);
    let output = attach(&server.ingress(), "Long", "a").await;
    assert_eq!(output, Ok(json!({ "by": "Ann", "end": "default" })));
}

/// The failed attempts at the flow in `Stubborn` that observers have seen.
fn failures_of_stubborn() -> Vec<String> {
    let events = EVENTS.lock().unwrap();
    events
        .iter()
        .filter(|event| event.starts_with("stubborn.failing attempt"))
        .cloned()
        .collect()
}
