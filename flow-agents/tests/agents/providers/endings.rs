//! How answers end, and what of them counts.

use std::error::Error as _;

use flow_agents::{Embedding as _, ModelError, Stop};
use serde_json::{Value, json};

use super::server::{Answer, Server};
use super::{WAYS, Way, ask, model, of};

fn events(events: &[Value]) -> Answer {
    Answer::new("text/event-stream", super::events(events))
}

/// A part of a chat completion.
fn chat(delta: Value, stop: Option<&str>) -> Value {
    json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": stop }] })
}

/// A part of an answer of Gemini.
fn gemini(text: &str, stop: Option<&str>) -> Value {
    json!({ "candidates": [{
        "content": { "parts": [{ "text": text }], "role": "model" }, "finishReason": stop, "index": 0,
    }] })
}

#[tokio::test]
async fn an_answer_that_its_provider_breaks_off_is_an_error_that_passes() {
    for word in ["insufficient_system_resource", "error", "abort"] {
        let sent = [
            chat(json!({ "content": "The answer is for" }), None),
            chat(json!({}), Some(word)),
        ];
        let error = ask(Way::Stream, &of("openai"), events(&sent)).await;
        let error = error.unwrap_err();
        assert!(matches!(error, ModelError::Unavailable { .. }), "{error:?}");
        let why = error.source().unwrap().to_string();
        assert_eq!(
            why,
            format!("it broke its answer off after 17 characters: {word}")
        );
    }
    for way in WAYS {
        let sent = gemini("", Some("MALFORMED_FUNCTION_CALL"));
        let answer = match way {
            Way::Complete => Answer::json(&sent),
            Way::Stream => events(&[sent]),
        };
        let error = ask(way, &of("gemini"), answer).await.unwrap_err();
        assert!(error.is_transient(), "{error:?}");
    }
}

/// A word that says that there is no reason yet is none.
#[tokio::test]
async fn an_answer_without_a_reason_is_cut_off() {
    let unset = events(&[gemini("The ans", Some("FINISH_REASON_UNSPECIFIED"))]);
    let null = events(&[chat(json!({ "content": "The ans" }), Some("null"))]);
    for (name, answer) in [("gemini", unset), ("openai", null)] {
        let error = ask(Way::Stream, &of(name), answer).await.unwrap_err();
        assert!(
            matches!(error, ModelError::CutOff { characters: 7, .. }),
            "{error:?}"
        );
    }
}

#[tokio::test]
async fn of_several_reasons_the_worst_counts() {
    for (word, expected) in [("MAX_TOKENS", Stop::Length), ("SAFETY", Stop::Filtered)] {
        for sent in [
            [gemini("The ans", Some(word)), gemini("", Some("STOP"))],
            [gemini("The ans", Some("STOP")), gemini("", Some(word))],
        ] {
            let reply = ask(Way::Stream, &of("gemini"), events(&sent))
                .await
                .unwrap();
            assert_eq!(
                (&*reply.content, reply.stop),
                ("The ans", expected.clone()),
                "{sent:?}"
            );
        }
    }
}

/// Whether an answer that ends with a word of which nothing is known is complete is not known.
#[tokio::test]
async fn an_answer_that_ends_for_an_unknown_reason_is_not_complete() {
    let sent = [chat(json!({ "content": "Hi" }), Some("pause_turn"))];
    let reply = ask(Way::Stream, &of("openai"), events(&sent))
        .await
        .unwrap();
    assert_eq!(reply.stop, Stop::Other("pause_turn".to_owned()));
    let error = reply.into_complete().unwrap_err();
    assert!(!error.is_transient());
    assert_eq!(
        error.to_string(),
        "the answer stopped with \"pause_turn\", a reason that is not known here; characters before that: 2, \
         tool calls: 0"
    );
}

fn call(index: Option<u64>, id: &str, name: &str, arguments: &str) -> Value {
    let mut call =
        json!({ "type": "function", "function": { "name": name, "arguments": arguments } });
    if let Some(index) = index {
        call["index"] = json!(index);
    }
    if !id.is_empty() {
        call["id"] = json!(id);
    }
    call
}

/// Ollama and some proxies count each call as the first one.
#[tokio::test]
async fn calls_of_one_index_with_ids_of_their_own_are_apart() {
    let one = call(Some(0), "a", "write", "{\"f\":1}");
    let other = call(Some(0), "b", "write", "{\"f\":");
    let rest = call(Some(0), "", "", "2}");
    let third = call(Some(1), "c", "read", "{}");
    let end = chat(json!({}), Some("tool_calls"));
    let part = |calls: &[&Value]| chat(json!({ "tool_calls": calls }), None);
    for sent in [
        vec![
            part(&[&one]),
            part(&[&other]),
            part(&[&rest]),
            part(&[&third]),
            end.clone(),
        ],
        vec![part(&[&one, &other]), part(&[&rest, &third]), end.clone()],
    ] {
        let reply = ask(Way::Stream, &of("ollama"), events(&sent))
            .await
            .unwrap();
        let calls = reply.tool_calls.iter();
        let calls: Vec<_> = calls
            .map(|it| (&*it.id, &*it.name, &*it.arguments))
            .collect();
        assert_eq!(
            calls,
            [
                ("a", "write", "{\"f\":1}"),
                ("b", "write", "{\"f\":2}"),
                ("c", "read", "{}")
            ]
        );
    }
    // Some servers give each part of a call an id of its own.
    let sent = [
        part(&[&call(Some(0), "a", "write", "{\"f\":")]),
        part(&[&call(Some(0), "b", "", "1}")]),
        end,
    ];
    let reply = ask(Way::Stream, &of("openai"), events(&sent))
        .await
        .unwrap();
    assert_eq!(reply.tool_calls.len(), 1);
    assert_eq!(reply.tool_calls[0].arguments, "{\"f\":1}");
}

#[tokio::test]
async fn what_is_said_of_a_refusal_is_kept_wherever_it_stands() {
    let details =
        json!({ "type": "refusal", "category": "cyber", "explanation": "I cannot help." });
    let anthropic = [
        json!({ "type": "message_start", "message": { "content": [] } }),
        json!({ "type": "message_delta", "delta": { "stop_reason": "refusal", "stop_details": details } }),
        json!({ "type": "message_stop" }),
    ];
    let whole = json!({ "type": "message", "content": [], "stop_reason": "refusal", "stop_details": details });
    let blocked = json!({ "promptFeedback": { "blockReason": "OTHER", "blockReasonMessage": "I cannot help." } });
    let mut held_back = gemini("", Some("SAFETY"));
    held_back["candidates"][0]["finishMessage"] = json!("I cannot help.");
    let part = json!([{ "type": "refusal", "refusal": "I cannot help." }]);
    let message =
        json!({ "choices": [{ "message": { "content": part }, "finish_reason": "stop" }] });
    for (name, way, answer) in [
        ("anthropic", Way::Stream, events(&anthropic)),
        ("anthropic", Way::Complete, Answer::json(&whole)),
        (
            "gemini",
            Way::Stream,
            events(std::slice::from_ref(&blocked)),
        ),
        ("gemini", Way::Complete, Answer::json(&blocked)),
        ("gemini", Way::Complete, Answer::json(&held_back)),
        (
            "openai",
            Way::Stream,
            events(&[chat(json!({ "content": part }), Some("stop"))]),
        ),
        ("openai", Way::Complete, Answer::json(&message)),
    ] {
        let reply = ask(way, &of(name), answer).await.unwrap();
        assert_eq!(
            (&*reply.content, reply.stop),
            ("I cannot help.", Stop::Filtered),
            "{name} {way:?}"
        );
    }
}

/// What comes in parts is repeated whole, and some comes only so.
#[tokio::test]
async fn what_responses_say_only_at_the_end_is_read_once() {
    let message = |parts: Value| json!({ "type": "message", "content": parts });
    let text = |text: &str| json!({ "type": "output_text", "text": text });
    let call =
        json!({ "type": "function_call", "call_id": "c", "name": "pay", "arguments": "{\"a\":1}" });
    let thought = json!({ "type": "reasoning", "encrypted_content": "x" });
    let paying = message(json!([text("I pay now.")]));
    let completed = |output: &[&Value]| {
        json!({
            "type": "response.completed", "response": { "status": "completed", "output": output },
        })
    };
    let done = |place: u64, item: &Value| json!({ "type": "response.output_item.done", "output_index": place, "item": item });
    let sent = [
        done(0, &thought),
        done(1, &paying),
        done(2, &call),
        completed(&[&thought, &paying, &call]),
    ];
    let reply = ask(Way::Stream, &of("openai-responses"), events(&sent)).await;
    let reply = reply.unwrap();
    assert_eq!((&*reply.content, reply.tool_calls.len()), ("I pay now.", 1));
    assert_eq!(reply.tool_calls[0].arguments, "{\"a\":1}");

    let refused = message(json!([text("Well. "), { "type": "refusal", "refusal": "I cannot." }]));
    for placeless in [false, true] {
        let mut delta =
            json!({ "type": "response.output_text.delta", "content_index": 0, "delta": "Well. " });
        if !placeless {
            delta["output_index"] = json!(0);
        }
        // Not one that has a place.
        let sound = json!({ "type": "response.audio.delta", "delta": "x" });
        let sent = [sound, delta, completed(&[&refused])];
        let reply = ask(Way::Stream, &of("openai-responses"), events(&sent)).await;
        let reply = reply.unwrap();
        // Of what has no place, nobody knows whether the whole repeats it.
        let expected = if placeless {
            "Well. "
        } else {
            "Well. I cannot."
        };
        assert_eq!(reply.content, expected);
        assert_eq!(reply.stop == Stop::Filtered, !placeless);
    }
}

#[tokio::test]
async fn ids_and_calls_without_a_text_count_for_the_limit() {
    let id = "x".repeat(100_000);
    let large: Vec<Value> = (0..40)
        .map(|index| {
            chat(
                json!({ "tool_calls": [call(Some(index), &format!("{index}{id}"), "t", "{}")] }),
                None,
            )
        })
        .collect();
    let many: Vec<Value> = (0..20_000)
        .map(|index| chat(json!({ "tool_calls": [{ "index": index }] }), None))
        .collect();
    for sent in [large, many] {
        let server = Server::start([events(&sent).piece(100_000)]).await;
        let model = model("openai:gpt-5", &server).max_bytes(2_000_000);
        let error = Way::Stream.ask(&model, &super::question()).await;
        let error = error.unwrap_err();
        assert!(matches!(error, ModelError::TooLarge { .. }), "{error:?}");
    }
}

/// In memory, each of them takes many times as much as its two bytes.
#[tokio::test]
async fn a_body_of_very_many_values_is_too_large() {
    let body = format!("{{\"choices\":[],\"x\":[{}0]}}", "0,".repeat(1_000_000));
    for way in WAYS {
        let answer = match way {
            Way::Complete => Answer::new("application/json", body.clone()),
            Way::Stream => Answer::new("text/event-stream", format!("data: {body}\n\n")),
        };
        let error = ask(way, &of("openai"), answer.piece(100_000)).await;
        let error = error.unwrap_err();
        assert!(matches!(error, ModelError::TooLarge { .. }), "{error:?}");
    }
}

#[tokio::test]
async fn a_whole_body_that_is_no_answer_is_not_asked_for_again() {
    for (name, body) in [
        ("openai", json!({ "choices": [{}] })),
        ("openai", json!({ "choices": ["yes", "no"] })),
        (
            "openai",
            json!({ "choices": [{ "message": { "content": "It rains." } }] }),
        ),
        (
            "openai",
            json!({ "choices": [{ "text": "It rains.", "finish_reason": "stop" }] }),
        ),
        ("gemini", json!({ "candidates": "none" })),
        ("gemini", json!({ "candidates": [] })),
        ("gemini", json!([{ "name": "Ann" }])),
        ("gemini", json!({ "promptFeedback": null })),
        (
            "anthropic",
            json!({ "content": [{ "id": 1, "title": "page" }], "total": 1 }),
        ),
        ("openai-responses", json!({ "output": [] })),
    ] {
        let error = ask(Way::Complete, &of(name), Answer::json(&body)).await;
        let error = error.unwrap_err();
        assert!(
            matches!(error, ModelError::Malformed { .. }),
            "{body}: {error:?}"
        );
        let why = error.source().unwrap().to_string();
        assert!(why.contains("found application/json: "), "{why}");
    }
    // As an event, one of the older interface is none either.
    let older = json!({ "choices": [{ "text": "It rains.", "finish_reason": "stop" }] });
    let error = ask(Way::Stream, &of("openai"), events(&[older])).await;
    assert!(
        matches!(error, Err(ModelError::Malformed { .. })),
        "{error:?}"
    );
    let both = json!({ "choices": [{
        "delta": null, "message": { "content": "It rains." }, "finish_reason": "stop",
    }] });
    let reply = ask(Way::Stream, &of("openai"), events(&[both]))
        .await
        .unwrap();
    assert_eq!(reply.content, "It rains.");
}

#[tokio::test]
async fn other_answers_than_embeddings_say_what_they_are() {
    let texts = ["text".to_owned()];
    for name in [
        "openai:text-embedding-3-small",
        "gemini:gemini-embedding-001",
    ] {
        let other = json!({ "status": "ok" });
        let busy =
            json!({ "error": { "message": "slow down", "code": 429, "type": "rate_limit_error" } });
        let server = Server::start([Answer::json(&other), Answer::json(&busy)]).await;
        let model = model(name, &server);
        let error = model.embed(&texts).await.unwrap_err();
        let why = error.source().unwrap().to_string();
        assert_eq!(
            why,
            "expected embeddings, found application/json: {\"status\":\"ok\"}"
        );
        let error = model.embed(&texts).await.unwrap_err();
        assert!(matches!(error, ModelError::RateLimited { .. }), "{error:?}");
    }
}

/// Whether a body is a page does not depend on the pieces in which it comes.
#[tokio::test]
async fn what_a_body_is_does_not_depend_on_its_pieces() {
    let event = chat(json!({ "content": "Hi" }), Some("stop"));
    let body = format!("region: eu\n\ndata: {event}\n\n");
    for piece in [1, 7, 10_000] {
        for (content_type, is_read) in [("Text/Event-Stream", true), ("text/plain", false)] {
            let answer = Answer::new(content_type, body.clone()).piece(piece);
            let reply = ask(Way::Stream, &of("openai"), answer).await;
            assert_eq!(reply.is_ok(), is_read, "{content_type} {piece}: {reply:?}");
        }
    }
}

/// Only some requests get the arguments of calls in parts, and no request here asks for it.
#[tokio::test]
async fn a_call_whose_arguments_come_in_parts_is_not_given_at_its_end_either() {
    let part = |call: Value| {
        let mut event = gemini("", None);
        event["candidates"][0]["content"]["parts"] = json!([{ "functionCall": call }]);
        event
    };
    let sent = [
        part(json!({ "name": "pay", "willContinue": true })),
        part(
            json!({ "partialArgs": [{ "jsonPath": "$.a", "numberValue": 1 }], "willContinue": true }),
        ),
        part(json!({ "name": "pay" })),
        part(json!({ "name": "read", "args": { "a": 1 }, "partialArgs": null })),
        gemini("", Some("STOP")),
    ];
    let reply = ask(Way::Stream, &of("gemini"), events(&sent))
        .await
        .unwrap();
    let calls: Vec<_> = reply.tool_calls.iter().map(|it| &*it.name).collect();
    assert_eq!(calls, ["read"]);
}

#[tokio::test]
async fn an_error_that_says_nothing_is_none() {
    for nothing in [json!({}), json!(false), json!("")] {
        let mut event = chat(json!({ "content": "Hi" }), Some("stop"));
        event["error"] = nothing;
        let reply = ask(Way::Stream, &of("openai"), events(&[event])).await;
        assert_eq!(reply.unwrap().content, "Hi");
    }
}
