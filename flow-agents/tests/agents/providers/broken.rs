//! Servers that do not speak the protocol, or answer without an end.

use std::error::Error as _;
use std::time::Duration;

use flow_agents::{GenAi, Model as _, ModelError, Retrying};
use serde_json::json;
use tokio::time::Instant;

use super::bodies::{self, Bodies};
use super::server::{Answer, End, Server};
use super::{WAYS, Way, ask, model, question};

/// Why there is no answer, which asking again would not change.
async fn refused(way: Way, of: &Bodies, answer: Answer) -> String {
    let error = ask(way, of, answer).await.unwrap_err();
    assert!(!error.is_transient(), "{error:?}");
    match &error {
        ModelError::Malformed { .. } => error.source().unwrap().to_string(),
        other => other.to_string(),
    }
}

#[tokio::test]
async fn a_page_is_an_error_that_names_its_content_type() {
    for of in bodies::all() {
        for way in WAYS {
            for content_type in ["text/html", "text/html; charset=utf-8"] {
                let page = "<!doctype html>\n<title>Sign in</title>\n<a href=\"data:\">";
                let why = refused(way, &of, Answer::new(content_type, page)).await;
                let found = format!("found {content_type}: <!doctype html>");
                assert!(why.contains(&found), "{} {way:?}: {why}", of.model);
            }
        }
        let why = refused(
            Way::Stream,
            &of,
            Answer::new("text/event-stream", "<p>\nNo.\n"),
        )
        .await;
        assert!(why.contains("found text/event-stream: <p>"), "{why}");
    }
}

#[tokio::test]
async fn other_json_is_an_error_that_names_its_content_type() {
    for of in bodies::all() {
        for body in [
            json!({ "status": "ok" }),
            json!([1]),
            json!("no"),
            json!(null),
        ] {
            for way in WAYS {
                let why = refused(way, &of, Answer::json(&body)).await;
                let found = format!("found application/json: {body}");
                assert!(why.contains(&found), "{} {way:?}: {why}", of.model);
            }
            let events = Answer::new("text/event-stream", format!("data: {body}\n\n").repeat(2));
            let why = refused(Way::Stream, &of, events).await;
            assert!(
                why.contains("found text/event-stream"),
                "{}: {why}",
                of.model
            );
        }
    }
}

#[tokio::test]
async fn an_event_that_is_broken_is_an_error_that_shows_it() {
    for of in bodies::all() {
        for broken in ["{\"choices\": ]}", "{\"choices\": ["] {
            let mut events = of.text.1.clone();
            events.insert(1, format!("data: {broken}\n\n"));
            let why = refused(Way::Stream, &of, Answer::events(&events)).await;
            let found = format!("found text/event-stream: {broken}");
            assert!(why.contains(&found), "{}: {why}", of.model);
        }
    }
}

#[tokio::test]
async fn a_connection_that_is_closed_behind_the_first_text_is_a_cut() {
    for of in bodies::all() {
        let events = &of.text.1;
        let has_text = |it: &String| it.contains(bodies::PARTS[0]);
        let first = events.iter().position(has_text).unwrap();
        for end in [End::Closed, End::Broken] {
            let answer = Answer::events(&events[..=first]).end(end);
            let error = ask(Way::Stream, &of, answer).await.unwrap_err();
            let about = format!("{} {end:?}: {error:?}", of.model);
            let ModelError::CutOff { characters: 4, .. } = error else {
                panic!("{about}");
            };
            assert!(error.is_transient());
        }
    }
}

const SIZE: usize = 30_000_000;
const TOO_LARGE: &str = "the answer has more than 16777216 bytes; allow more with `max_bytes`, or ask \
                         for a shorter answer";

#[tokio::test]
async fn an_answer_of_thirty_megabytes_is_an_error() {
    let [openai, ..] = bodies::all();
    let mut whole = openai.text.0.clone();
    whole["choices"][0]["message"]["content"] = json!("x".repeat(SIZE));
    let piece = "x".repeat(SIZE / 30);
    let delta = json!({ "choices": [{ "index": 0, "delta": { "content": piece } }] });
    let parts = format!("data: {delta}\n\n").repeat(30);
    let delta = json!({ "choices": [{ "index": 0, "delta": { "content": "x".repeat(SIZE) } }] });
    for (way, answer) in [
        (Way::Complete, Answer::json(&whole)),
        (Way::Stream, Answer::new("text/event-stream", parts)),
        (
            Way::Stream,
            Answer::new("text/event-stream", format!("data: {delta}\n\n")),
        ),
        (
            Way::Stream,
            Answer::new("text/event-stream", "x".repeat(SIZE)),
        ),
        (Way::Stream, Answer::new("text/html", "x".repeat(SIZE))),
    ] {
        let why = refused(way, &openai, answer.piece(1 << 16)).await;
        assert_eq!(why, TOO_LARGE, "{way:?}");
    }
}

#[tokio::test]
async fn how_large_an_answer_may_be_can_be_said() {
    for of in bodies::all() {
        for (way, least) in [(Way::Complete, 50), (Way::Stream, 10)] {
            for (limit, fits) in [(least, false), (100_000, true)] {
                let server = Server::start([way.answer(&of.text)]).await;
                let model: GenAi = model(of.model, &server).max_bytes(limit);
                let answer = way.ask(&model, &question()).await;
                let about = format!("{} {way:?} {limit}: {answer:?}", of.model);
                match answer {
                    Ok(_) => assert!(fits, "{about}"),
                    Err(ModelError::TooLarge { limit: told }) => {
                        assert!(!fits && told == limit, "{about}");
                    }
                    Err(_) => panic!("{about}"),
                }
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_speak_the_protocol_is_asked_once() {
    let [openai, ..] = bodies::all();
    let page = Answer::new("text/html", "<html>");
    let server = Server::start([page.clone(), page]).await;
    let model = Retrying::new(model(openai.model, &server)).wait(Duration::from_secs(9));
    let began = Instant::now();
    assert!(model.stream(&question()).await.is_err());
    assert_eq!((server.asked().len(), began.elapsed().as_secs()), (1, 0));
}
