//! Answers that end too early, or cannot be read.

use flow_agents::{Model as _, ModelError};
use futures_util::StreamExt as _;
use serde_json::json;

use super::bodies::{self, Bodies, PARTS, TEXT};
use super::server::{Answer, End, Server};
use super::{Way, ask, model, question};

/// The text that came, and how the stream ended.
async fn read(of: &Bodies, body: &[u8], end: End) -> (String, Option<ModelError>) {
    let answer = Answer::new("text/event-stream", body).end(end);
    let server = Server::start([answer]).await;
    let mut chunks = match model(of.model, &server).stream(&question()).await {
        Ok(chunks) => chunks,
        Err(error) => return (String::new(), Some(error)),
    };
    let mut text = String::new();
    while let Some(chunk) = chunks.next().await {
        match chunk {
            Ok(flow_agents::Chunk::Text(more)) => text += &more,
            Ok(_) => {}
            Err(error) => return (text, Some(error)),
        }
    }
    (text, None)
}

#[tokio::test]
async fn a_stream_that_is_cut_anywhere_is_an_error() {
    for of in bodies::all() {
        let events = &of.text.1;
        let whole = events.concat();
        // A chat completion is complete when it says why it ended, and the others are at their last event.
        let ends = |event: &String| event.contains(r#""finish_reason":"stop""#);
        let end = events.iter().position(ends).unwrap_or(events.len() - 1);
        let is_chat = end + 1 < events.len();
        let complete = events[..=end].concat().len() - 2;
        for end_of_body in [End::Closed, End::Broken] {
            let (mut between, mut cuts) = (0, Vec::new());
            for event in events {
                cuts.extend([between, between + 3, between + event.len() / 2]);
                between += event.len();
            }
            cuts.extend([whole.len() - 5, whole.len() - 3]);
            for cut in cuts {
                let (text, error) = read(&of, &whole.as_bytes()[..cut], end_of_body).await;
                let about = format!(
                    "{} {end_of_body:?} {cut} of {}: {error:?}",
                    of.model,
                    whole.len()
                );
                let is_complete = cut >= complete && (is_chat || end_of_body == End::Closed);
                let Some(ModelError::CutOff { characters, .. }) = error else {
                    assert!(is_complete && error.is_none() && text == TEXT, "{about}");
                    continue;
                };
                assert!(!is_complete, "{about}");
                assert!(TEXT.starts_with(&text), "{about}");
                assert_eq!(characters, text.chars().count(), "{about}");
            }
        }
        let (text, error) = read(&of, whole.as_bytes(), End::Closed).await;
        assert!(error.is_none() && text == TEXT, "{}: {error:?}", of.model);
    }
}

#[tokio::test]
async fn a_stream_that_is_cut_in_a_letter_is_an_error() {
    for of in bodies::all() {
        let whole = of.text.1.concat();
        let cut = whole.find('ö').unwrap() + 1;
        let (_, error) = read(&of, &whole.as_bytes()[..cut], End::Closed).await;
        assert!(
            matches!(error, Some(ModelError::CutOff { .. })),
            "{}: {error:?}",
            of.model
        );
    }
}

#[tokio::test]
async fn a_stream_that_does_not_say_why_it_ended_is_an_error() {
    for of in bodies::all() {
        let events = of.text.1.concat();
        let reasons = [
            ("\"finish_reason\":\"stop\"", "\"finish_reason\":null"),
            ("\"stop_reason\":\"end_turn\"", "\"stop_reason\":null"),
            ("\"finishReason\":\"STOP\"", "\"index\":0"),
            (
                "\"type\":\"response.completed\"",
                "\"type\":\"response.other\"",
            ),
        ];
        let without = reasons
            .iter()
            .fold(events.clone(), |it, (from, to)| it.replace(from, to));
        assert_ne!(events, without);
        let without = if of.provider == "ollama" {
            without.replace("\"finish_reason\":null", "\"finish_reason\":\"\"")
        } else {
            without
        };
        let (text, error) = read(&of, without.as_bytes(), End::Whole).await;
        assert_eq!(text, TEXT);
        assert!(
            matches!(error, Some(ModelError::CutOff { characters: 17, .. })),
            "{}: {error:?}",
            of.model
        );
    }
}

#[tokio::test]
async fn calls_that_came_before_a_cut_are_counted() {
    for of in bodies::all() {
        let mut events = of.calls.1.clone();
        let end = match of.provider {
            "gcp.gemini" => 1,
            "openai" if of.paths == ["/responses"; 2] => 2,
            "openai" | "ollama" => 3,
            _ => 2,
        };
        events.truncate(events.len() - end);
        let (_, error) = read(&of, events.concat().as_bytes(), End::Closed).await;
        assert!(
            matches!(
                error,
                Some(ModelError::CutOff {
                    characters: 0,
                    calls: 2
                })
            ),
            "{}: {error:?}",
            of.model
        );
    }
}

#[tokio::test]
async fn an_event_that_is_not_json_is_an_error() {
    for of in bodies::all() {
        for at in [0, 1, of.text.1.len() - 1] {
            let mut events = of.text.1.clone();
            events.insert(at, "event: message\ndata: {\"choices\": ]}\n\n".to_owned());
            let (text, error) = read(&of, events.concat().as_bytes(), End::Whole).await;
            assert!(
                matches!(error, Some(ModelError::Malformed { .. })),
                "{} {at}: {error:?}",
                of.model
            );
            assert!(TEXT.starts_with(&text));
        }
    }
}

#[tokio::test]
async fn a_whole_answer_that_cannot_be_read_is_an_error() {
    let cases = [
        ("application/json", "{\"oops\" : ]", false),
        ("text/html", "<html>Sign in</html>", false),
        (
            "application/json",
            "{\"id\": \"chatcmpl-1\", \"choices\": [",
            true,
        ),
        ("application/json", "", true),
    ];
    for of in bodies::all() {
        for (content_type, body, is_cut) in cases {
            let error = ask(Way::Complete, &of, Answer::new(content_type, body))
                .await
                .unwrap_err();
            let about = format!("{} {body}: {error:?}", of.model);
            if is_cut {
                assert!(matches!(error, ModelError::CutOff { .. }), "{about}");
            } else {
                assert!(matches!(error, ModelError::Malformed { .. }), "{about}");
            }
        }
        let body = of.text.0.to_string();
        let half = Answer::new("application/json", &body[..body.len() / 2]);
        let error = ask(Way::Complete, &of, half.end(End::Broken))
            .await
            .unwrap_err();
        assert!(
            matches!(error, ModelError::CutOff { .. }),
            "{}: {error:?}",
            of.model
        );
        let empty = ask(Way::Complete, &of, Answer::json(&json!({})))
            .await
            .unwrap_err();
        assert!(
            matches!(empty, ModelError::Malformed { .. }),
            "{}: {empty:?}",
            of.model
        );
    }
}

#[tokio::test]
async fn a_provider_that_fails_in_its_stream_says_why() {
    for of in bodies::all() {
        let (text, error) = read(&of, of.overloaded.concat().as_bytes(), End::Whole).await;
        let Some(ModelError::Unavailable { source, .. }) = error else {
            panic!("{}: {error:?}", of.model);
        };
        assert_eq!(source.to_string(), bodies::WHY);
        assert!(
            text.is_empty() || text == PARTS[0] || text == PARTS[..2].concat(),
            "{text}"
        );
    }
}
