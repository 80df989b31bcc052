//! Letters that come by half, and the mark that a body may begin with.

use flow_agents::{Embedding as _, ModelError};
use serde_json::json;

use super::bodies::{self, Bodies, PARTS, TEXT, WHY};
use super::server::{Answer, Server};
use super::{WAYS, Way, ask, model};

/// The answer of this provider, in which some bytes are others.
fn changed(way: Way, of: &Bodies, changes: &[(&str, &[u8])]) -> Answer {
    let (content_type, body) = match way {
        Way::Complete => ("application/json", of.text.0.to_string()),
        Way::Stream => ("text/event-stream", of.text.1.concat()),
    };
    let mut body = body.into_bytes();
    for (from, to) in changes {
        let from = from.as_bytes();
        let mut at = 0;
        while let Some(next) = body[at..].windows(from.len()).position(|it| it == from) {
            at += next;
            body.splice(at..at + from.len(), to.iter().copied());
            at += to.len();
        }
    }
    Answer::new(content_type, body)
}

#[tokio::test]
async fn a_letter_whose_halves_come_one_after_the_other_is_whole() {
    let [first, second, _] = PARTS;
    let changes: [(&str, &[u8]); 2] = [(first, b"In \\uD83C"), (second, b"\\udf27 it")];
    for of in bodies::all() {
        for way in WAYS {
            let reply = ask(way, &of, changed(way, &of, &changes)).await.unwrap();
            assert_eq!(
                reply.content, "In \u{1f327} it rains.",
                "{} {way:?}",
                of.model
            );
        }
    }
}

#[tokio::test]
async fn half_a_letter_is_replaced_and_the_rest_of_the_text_kept() {
    let [first, second, last] = PARTS;
    let cases: [(&str, &[u8], &str); 6] = [
        (first, b"In \\ud83c", "In \u{fffd}öln it rains."),
        (second, b"\\udf27ln it", "In K\u{fffd}ln it rains."),
        (last, b" rains\\ud83c", "In Köln it rains\u{fffd}"),
        (last, b" \\ud83c.", "In Köln it \u{fffd}."),
        ("ö", b"\xc3", "In K\u{fffd}ln it rains."),
        ("rains.", b"rains\xf0\x9f", "In Köln it rains\u{fffd}"),
    ];
    for of in bodies::all() {
        for way in WAYS {
            for (from, to, expected) in cases {
                let reply = ask(way, &of, changed(way, &of, &[(from, to)])).await;
                let about = format!("{} {way:?} {expected}: {reply:?}", of.model);
                assert_eq!(reply.expect(&about).content, expected, "{about}");
            }
        }
    }
}

/// What came with half a letter is there before the error.
#[tokio::test]
async fn a_stream_that_is_cut_behind_half_a_letter_counts_what_came() {
    for of in bodies::all() {
        let events = &of.text.1;
        let first = events.iter().position(|it| it.contains(PARTS[0])).unwrap();
        let body = events[..=first].concat().replace(PARTS[0], "In \\ud83c");
        for body in [body.as_str(), body.trim_end(), &format!("{body}data: {{\"")] {
            let answer = Answer::new("text/event-stream", body);
            let error = ask(Way::Stream, &of, answer).await.unwrap_err();
            let about = format!("{} {error:?}", of.model);
            assert!(
                matches!(error, ModelError::CutOff { characters: 4, .. }),
                "{about}"
            );
        }
    }
}

#[tokio::test]
async fn a_mark_in_front_of_a_body_is_passed_over() {
    let marked = |body: String| format!("\u{feff}{body}");
    for of in bodies::all() {
        for way in WAYS {
            let answer = Answer::new("application/json", marked(of.text.0.to_string()));
            let reply = ask(way, &of, answer).await.unwrap();
            assert_eq!(reply.content, TEXT, "{} {way:?}", of.model);
            let error = Answer::new("application/json", marked(of.error.to_string()));
            let error = ask(way, &of, error.status(503)).await.unwrap_err();
            let ModelError::Unavailable { source, .. } = error else {
                panic!("{error:?}");
            };
            assert!(
                source.to_string().ends_with(&format!(": {WHY}")),
                "{source}"
            );
        }
    }
    let body = json!({ "data": [{ "index": 0, "embedding": [1.0] }] });
    let answer = Answer::new("application/json", marked(body.to_string()));
    let server = Server::start([answer]).await;
    let embedded = model("openai:text-embedding-3-small", &server);
    let embedded = embedded.embed(&["It rains.".to_owned()]).await.unwrap();
    assert_eq!(embedded.vectors, [[1.0]]);
}
