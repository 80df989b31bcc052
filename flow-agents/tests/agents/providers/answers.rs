//! What providers answer.

use flow_agents::{Reply, Stop, ToolCall, Usage};
use serde_json::json;

use super::bodies::{self, TEXT};
use super::server::{Answer, Server};
use super::{WAYS, Way, ask, model, question};

#[tokio::test]
async fn a_text_comes_with_its_usage() {
    for of in bodies::all() {
        for (way, path) in WAYS.into_iter().zip(of.paths) {
            let server = Server::start([way.answer(&of.text)]).await;
            let reply = way
                .ask(&model(of.model, &server), &question())
                .await
                .unwrap();
            let expected = Reply::new(TEXT, Vec::new(), bodies::usage(), Stop::Done);
            assert_eq!(reply, expected, "{} {way:?}", of.model);
            let asked = &server.asked()[0];
            assert_eq!(asked.path, path);
            assert!(asked.headers.contains(of.key), "{}", asked.headers);
        }
    }
}

#[tokio::test]
async fn calls_are_put_together_from_the_parts_of_a_stream() {
    for of in bodies::all() {
        for way in WAYS {
            let reply = ask(way, &of, way.answer(&of.calls)).await.unwrap();
            let about = format!("{} {way:?}", of.model);
            let calls = reply.tool_calls.iter();
            let calls: Vec<_> = calls
                .map(|it| (&*it.name, it.parse::<serde_json::Value>().unwrap()))
                .collect();
            let expected = [
                ("weather", json!({ "city": "Köln" })),
                ("time", json!({ "zone": "Europe/Berlin" })),
            ];
            assert_eq!(calls, expected, "{about}");
            assert_ne!(reply.tool_calls[0].id, reply.tool_calls[1].id, "{about}");
            if of.provider != "gcp.gemini" {
                assert_eq!(reply.tool_calls[0].id, "call_a", "{about}");
            }
            assert_eq!(
                (reply.stop, reply.content),
                (Stop::Done, String::new()),
                "{about}"
            );
        }
    }
}

#[tokio::test]
async fn an_answer_says_that_it_reached_the_limit_or_was_refused() {
    for of in bodies::all() {
        for way in WAYS {
            let about = format!("{} {way:?}", of.model);
            let long = ask(way, &of, way.answer(&of.long)).await.unwrap();
            assert_eq!(
                (&*long.content, long.stop),
                ("In K", Stop::Length),
                "{about}"
            );
            let filtered = ask(way, &of, way.answer(&of.filtered)).await.unwrap();
            assert_eq!(filtered.stop, Stop::Filtered, "{about}");
            if of.provider == "openai" {
                assert_eq!(filtered.content, "I cannot.", "{about}");
            }
        }
    }
}

#[tokio::test]
async fn arguments_that_are_not_json_are_given_as_the_model_wrote_them() {
    let [openai, ..] = bodies::all();
    for arguments in ["", "{\"city\":", "Köln"] {
        let mut body = openai.calls.0.clone();
        body["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"] = json!(arguments);
        let reply = ask(Way::Complete, &openai, Answer::json(&body))
            .await
            .unwrap();
        assert_eq!(
            reply.tool_calls[0],
            ToolCall::raw("call_a", "weather", arguments)
        );
        assert_eq!((reply.usage, reply.stop), (bodies::usage(), Stop::Done));
    }
}

#[tokio::test]
async fn both_ways_to_ask_give_the_same_answer() {
    for of in bodies::all() {
        for case in [&of.text, &of.calls, &of.long] {
            let mut replies = Vec::new();
            for way in WAYS {
                replies.push(ask(way, &of, way.answer(case)).await.unwrap());
            }
            assert_eq!(replies[0], replies[1], "{}", of.model);
        }
    }
}

#[tokio::test]
async fn an_answer_of_openai_that_was_held_back_midway_says_so() {
    let [_, mut responses, ..] = bodies::all();
    responses.long.0["incomplete_details"]["reason"] = json!("content_filter");
    for event in &mut responses.long.1 {
        *event = event.replace("max_output_tokens\"}", "content_filter\"}");
    }
    for way in WAYS {
        let reply = ask(way, &responses, way.answer(&responses.long))
            .await
            .unwrap();
        assert_eq!(
            (&*reply.content, reply.stop),
            ("In K", Stop::Filtered),
            "{way:?}"
        );
    }
}

#[tokio::test]
async fn what_a_model_of_gemini_only_thought_counts_as_answered() {
    let [_, _, _, gemini, _] = bodies::all();
    let mut body = gemini.long.0.clone();
    body["usageMetadata"]
        .as_object_mut()
        .unwrap()
        .remove("candidatesTokenCount");
    for way in WAYS {
        let answer = way.answer(&(body.clone(), vec![format!("data: {body}\n\n")]));
        let reply = ask(way, &gemini, answer).await.unwrap();
        assert_eq!(
            (reply.usage.input_tokens, reply.usage.output_tokens),
            (12, 2),
            "{way:?}"
        );
    }
}

#[tokio::test]
async fn a_question_that_gemini_blocks_counts_what_it_used() {
    let [_, _, _, gemini, _] = bodies::all();
    let (mut body, _) = gemini.filtered.clone();
    body["usageMetadata"]["cachedContentTokenCount"] = json!(4);
    body["usageMetadata"]["thoughtsTokenCount"] = json!(3);
    for way in WAYS {
        let answer = way.answer(&(body.clone(), vec![format!("data: {body}\n\n")]));
        let reply = ask(way, &gemini, answer).await.unwrap();
        let mut usage = Usage::new(12, 3);
        usage.cached_input_tokens = 4;
        let expected = Reply::new("", Vec::new(), usage, Stop::Filtered);
        assert_eq!(reply, expected, "{way:?}");
    }
}

/// The calls of a stream of Chat Completions that come in these events.
async fn streamed_calls(events: &[serde_json::Value]) -> Vec<ToolCall> {
    let [openai, ..] = bodies::all();
    let deltas = events.iter().map(|calls| json!({ "tool_calls": calls }));
    let events = bodies::parts(&deltas.collect::<Vec<_>>(), "tool_calls");
    let reply = ask(Way::Stream, &openai, Answer::events(&events));
    reply.await.unwrap().tool_calls
}

#[tokio::test]
async fn calls_without_an_index_are_told_apart_by_their_ids() {
    let part = |id: Option<&str>, name: &str, arguments: &str| json!({ "id": id, "function": { "name": name, "arguments": arguments } });
    let expected = [
        ToolCall::raw("call_a", "weather", r#"{"city":1}"#),
        ToolCall::raw("call_b", "time", r#"{"zone":2}"#),
        ToolCall::raw("call_c", "time", "{}"),
    ];
    let [a, b, c] = [
        ("call_a", "weather"),
        ("call_b", "time"),
        ("call_c", "time"),
    ];
    let begun = |(id, name), arguments| part(Some(id), name, arguments);
    let one_after_the_other = [
        json!([begun(a, r#"{"city":"#)]),
        json!([part(None, "", "1}")]),
        json!([begun(b, r#"{"zone":2}"#)]),
        json!([begun(c, "{")]),
        json!([part(Some(""), "", "}")]),
    ];
    assert_eq!(streamed_calls(&one_after_the_other).await, expected);
    let two_at_once = [
        json!([begun(a, r#"{"city":"#), begun(b, "{")]),
        json!([part(None, "", "1}"), part(None, "", r#""zone":2}"#)]),
        json!([begun(c, "{}")]),
    ];
    assert_eq!(streamed_calls(&two_at_once).await, expected);
    let id_with_each_part = [
        json!([begun(a, r#"{"city":"#)]),
        json!([begun(b, r#"{"zone":"#)]),
        json!([part(Some(a.0), "", "1}")]),
        json!([part(Some(b.0), "", "2}")]),
        json!([begun(c, "{}")]),
    ];
    assert_eq!(streamed_calls(&id_with_each_part).await, expected);
}
