//! What providers refuse, and when they cannot answer.

use std::time::{Duration, SystemTime};

use flow_agents::{GenAi, ModelError, Retrying};
use serde_json::json;
use tokio::time::Instant;

use super::bodies::{self, TEXT, WHY};
use super::server::{Answer, End, Server};
use super::{WAYS, Way, ask, model, question};

#[tokio::test]
async fn a_limit_of_requests_says_how_long_to_wait() {
    let cases = [
        (vec![("retry-after", "7".to_owned())], Some(7_000)),
        (vec![("retry-after", "0.25".to_owned())], Some(250)),
        (
            vec![
                ("retry-after-ms", "1500".to_owned()),
                ("retry-after", "2".to_owned()),
            ],
            Some(1_500),
        ),
        (
            vec![
                ("retry-after-ms", "-5".to_owned()),
                ("retry-after", "2".to_owned()),
            ],
            Some(2_000),
        ),
        (
            vec![("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT".to_owned())],
            Some(0),
        ),
        (vec![("retry-after", "soon".to_owned())], None),
        (vec![("retry-after", "-3".to_owned())], None),
        (vec![], None),
    ];
    for of in bodies::all() {
        for way in WAYS {
            for (headers, expected) in &cases {
                let answer = Answer::json(&of.error).status(429);
                let answer = headers
                    .iter()
                    .fold(answer, |it, (name, value)| it.header(name, value));
                let error = ask(way, &of, answer).await.unwrap_err();
                let about = format!("{} {way:?} {headers:?}: {error:?}", of.model);
                let ModelError::RateLimited {
                    retry_after,
                    message,
                } = error
                else {
                    panic!("{about}");
                };
                assert_eq!(retry_after, expected.map(Duration::from_millis), "{about}");
                assert_eq!(message, WHY, "{about}");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_model_is_asked_again_when_the_provider_says() {
    let [openai, ..] = bodies::all();
    for way in WAYS {
        let limited = Answer::json(&openai.error)
            .status(429)
            .header("retry-after", "7");
        let server = Server::start([limited, way.answer(&openai.text)]).await;
        let model = Retrying::new(model(openai.model, &server)).jitter(0.0);
        let began = Instant::now();
        let reply = way.ask(&model, &question()).await.unwrap();
        assert_eq!(reply.content, TEXT);
        assert_eq!(began.elapsed().as_secs(), 7);
        assert_eq!(server.asked().len(), 2);
    }
}

#[tokio::test]
async fn a_limit_of_requests_can_say_when_it_ends() {
    let [openai, ..] = bodies::all();
    let then = httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(100));
    let answer = Answer::json(&openai.error)
        .status(429)
        .header("retry-after", then);
    let error = ask(Way::Complete, &openai, answer).await.unwrap_err();
    let wait = error.retry_after().unwrap();
    assert!(
        wait > Duration::from_secs(60) && wait <= Duration::from_secs(100),
        "{wait:?}"
    );
}

#[tokio::test]
async fn gemini_says_in_its_body_how_long_to_wait() {
    let [.., gemini, _] = bodies::all();
    let mut body = gemini.error.clone();
    body["error"]["details"] = json!([
        { "@type": "type.googleapis.com/google.rpc.Help", "links": [] },
        { "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s" },
    ]);
    for body in [body.clone(), json!([body])] {
        for way in WAYS {
            let error = ask(way, &gemini, Answer::json(&body).status(429))
                .await
                .unwrap_err();
            assert!(matches!(error, ModelError::RateLimited { .. }), "{error:?}");
            assert_eq!(error.retry_after(), Some(Duration::from_millis(34_500)));
        }
    }
}

#[tokio::test]
async fn an_account_without_money_is_not_asked_again() {
    let [openai, ..] = bodies::all();
    let body = json!({ "error": { "message": WHY, "type": "insufficient_quota", "code": "insufficient_quota" } });
    let error = ask(Way::Stream, &openai, Answer::json(&body).status(429))
        .await
        .unwrap_err();
    assert!(matches!(error, ModelError::Refused { .. }), "{error:?}");
}

#[tokio::test]
async fn a_status_says_whether_asking_again_can_help() {
    for of in bodies::all() {
        for way in WAYS {
            for (status, passes) in [
                (400, false),
                (401, false),
                (404, false),
                (413, false),
                (408, true),
                (500, true),
                (503, true),
                (529, true),
            ] {
                let answer = Answer::json(&of.error)
                    .status(status)
                    .header("retry-after", "3");
                let error = ask(way, &of, answer).await.unwrap_err();
                let about = format!("{} {way:?} {status}: {error:?}", of.model);
                let (source, wait) = match (passes, error) {
                    (
                        true,
                        ModelError::Unavailable {
                            source,
                            retry_after,
                        },
                    ) => (source, retry_after),
                    (false, ModelError::Refused { source }) => (source, None),
                    _ => panic!("{about}"),
                };
                assert!(source.to_string().contains(WHY), "{about}");
                assert!(source.to_string().contains(&status.to_string()), "{about}");
                assert_eq!(wait, passes.then_some(Duration::from_secs(3)), "{about}");
            }
        }
    }
}

#[tokio::test]
async fn an_error_that_is_not_json_is_shown_as_far_as_it_is_short() {
    let [openai, ..] = bodies::all();
    let page = format!("<html>{}</html>", "ö".repeat(2000));
    let error = ask(
        Way::Complete,
        &openai,
        Answer::new("text/html", page).status(502),
    )
    .await
    .unwrap_err();
    let ModelError::Unavailable { source, .. } = error else {
        panic!("{error:?}");
    };
    let shown = source.to_string();
    assert!(
        shown.starts_with("HTTP status 502 Bad Gateway: <html>ö"),
        "{shown}"
    );
    assert!(shown.ends_with("ö … 1513 more characters"), "{shown}");
}

#[tokio::test(start_paused = true)]
async fn an_error_whose_body_does_not_end_is_returned_with_what_came() {
    for of in bodies::all() {
        for (way, status) in [(Way::Complete, 503), (Way::Stream, 400)] {
            let answer = Answer::json(&of.error).status(status).end(End::Never);
            let began = Instant::now();
            let error = ask(way, &of, answer).await.unwrap_err();
            let about = format!("{} {way:?} {status}: {error:?}", of.model);
            assert_eq!(error.is_transient(), status == 503, "{about}");
            let (ModelError::Unavailable { source, .. } | ModelError::Refused { source }) = error
            else {
                panic!("{about}");
            };
            assert!(source.to_string().contains(WHY), "{about}");
            assert_eq!(began.elapsed().as_secs(), 10, "{about}");
        }
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_cannot_answer() {
    for way in WAYS {
        let model = GenAi::new("ollama:qwen3")
            .unwrap()
            .endpoint("http://127.0.0.1:1")
            .unwrap();
        let error = way.ask(&model, &question()).await.unwrap_err();
        assert!(matches!(error, ModelError::Unavailable { .. }), "{error:?}");
    }
}

#[tokio::test]
async fn a_key_does_not_follow_a_redirect() {
    for of in bodies::all() {
        for way in WAYS {
            let other = Server::start([way.answer(&of.text)]).await;
            let answer = Answer::json(&json!({}))
                .status(307)
                .header("location", &other.url);
            let error = ask(way, &of, answer).await.unwrap_err();
            assert!(matches!(error, ModelError::Refused { .. }), "{error:?}");
            assert!(other.asked().is_empty());
        }
    }
}

#[tokio::test]
async fn a_key_is_in_no_error_and_in_no_debug_output() {
    for of in bodies::all() {
        for (way, status) in WAYS.into_iter().flat_map(|way| [(way, 401), (way, 200)]) {
            let server = Server::start([Answer::new("text/plain", "no").status(status)]).await;
            let model = model(of.model, &server);
            let error = way.ask(&model, &question()).await.unwrap_err();
            let shown = format!("{error} {error:?} {model:?}");
            assert!(!shown.contains("secret"), "{shown}");
            assert!(server.asked()[0].headers.contains(of.key));
        }
    }
    let model = GenAi::new("openai:gpt-5-mini").unwrap().key("one\ntwo");
    let error = Way::Complete.ask(&model, &question()).await.unwrap_err();
    assert!(matches!(error, ModelError::Refused { .. }), "{error:?}");
    assert!(!format!("{error:?}").contains("two"), "{error:?}");
}
