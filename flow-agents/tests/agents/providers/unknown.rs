//! What providers send that is not known, comes late, or is not for the program.

use flow_agents::{Reply, Stop, ToolCall, Usage};
use serde_json::{Value, json};

use super::bodies::{self, Bodies};
use super::server::Answer;
use super::{WAYS, Way, ask, events, of};

/// The answer to a body that comes in two pieces, or as a whole.
async fn streamed(of: &Bodies, body: &str, cut_at: Option<usize>) -> Reply {
    let answer = Answer::new("text/event-stream", body);
    let answer = answer.piece(cut_at.unwrap_or(body.len()));
    ask(Way::Stream, of, answer).await.unwrap()
}

fn done(text: &str, usage: Usage) -> Reply {
    Reply::new(text, Vec::new(), usage, Stop::Done)
}

#[tokio::test]
async fn what_gemini_says_behind_a_first_reason_belongs_to_the_answer() {
    let part = |text: &str, tokens: u64| {
        json!({
            "candidates": [{
                "content": { "parts": [{ "text": text }], "role": "model" },
                "finishReason": "STOP", "index": 0,
            }],
            "usageMetadata": { "promptTokenCount": 9, "candidatesTokenCount": tokens },
        })
    };
    let body = events(&[part("It ", 3), part("is 1.", 8)]);
    let reply = streamed(&of("gemini"), &body, None).await;
    assert_eq!(reply, done("It is 1.", Usage::new(9, 8)));
}

#[tokio::test]
async fn a_chat_completion_is_complete_without_an_end_of_its_own() {
    let part = |delta: Value, stop: Option<&str>| json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": stop }] });
    let mut all = vec![
        part(json!({ "content": "Hi" }), None),
        part(json!({}), Some("stop")),
    ];
    let without_usage = streamed(&of("openai"), &events(&all), None).await;
    assert_eq!(without_usage, done("Hi", Usage::default()));
    all.push(json!({ "choices": [], "usage": { "prompt_tokens": 1, "completion_tokens": 1 } }));
    let reply = streamed(&of("openai"), &events(&all), None).await;
    assert_eq!(reply, done("Hi", Usage::new(1, 1)));
}

/// A stream of Anthropic with these blocks, and the deltas of each.
fn message(blocks: &[(Value, Vec<Value>)], stop: &str) -> Vec<Value> {
    let usage = json!({ "input_tokens": 9, "output_tokens": 1 });
    let mut events =
        vec![json!({ "type": "message_start", "message": { "content": [], "usage": usage } })];
    for (index, (block, deltas)) in blocks.iter().enumerate() {
        events
            .push(json!({ "type": "content_block_start", "index": index, "content_block": block }));
        events.extend(
            deltas.iter().map(
                |delta| json!({ "type": "content_block_delta", "index": index, "delta": delta }),
            ),
        );
        events.push(json!({ "type": "content_block_stop", "index": index }));
    }
    events.push(json!({
        "type": "message_delta", "delta": { "stop_reason": stop }, "usage": { "output_tokens": 7 },
    }));
    events.push(json!({ "type": "message_stop" }));
    events
}

fn said(texts: &[&str]) -> (Value, Vec<Value>) {
    let deltas = texts
        .iter()
        .map(|text| json!({ "type": "text_delta", "text": text }));
    (json!({ "type": "text", "text": "" }), deltas.collect())
}

#[tokio::test]
async fn a_line_end_that_comes_in_two_pieces_loses_nothing() {
    let body = events(&message(&[said(&["one ", "two"])], "end_turn"));
    for end in ["\n", "\r\n", "\r"] {
        let body = body.replace('\n', end);
        let ends = body.match_indices(['\r', '\n']).map(|(at, _)| at + 1);
        for cut_at in ends {
            let reply = streamed(&of("anthropic"), &body, Some(cut_at)).await;
            assert_eq!(reply, done("one two", Usage::new(9, 7)), "{end:?} {cut_at}");
        }
    }
}

#[tokio::test]
async fn kinds_of_events_blocks_and_deltas_that_are_not_known_are_passed_over() {
    let citation = json!({ "type": "citations_delta", "citation": { "type": "char_location" } });
    let (block, mut deltas) = said(&["one", " two"]);
    deltas.insert(1, citation);
    let server_call = (
        json!({ "type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {} }),
        vec![json!({ "type": "input_json_delta", "partial_json": "{\"query\":\"rain\"}" })],
    );
    let found = (
        json!({ "type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [] }),
        vec![json!({ "type": "text_delta", "text": "not said" })],
    );
    let new = (
        json!({ "type": "hologram" }),
        vec![json!({ "type": "light_delta", "light": 1 })],
    );
    let mut sent = message(&[server_call, found, (block, deltas), new], "end_turn");
    sent.insert(1, json!({ "type": "moon_phase", "phase": "new" }));
    let reply = streamed(&of("anthropic"), &events(&sent), None).await;
    assert_eq!(reply, done("one two", Usage::new(9, 7)));

    let responses = of("openai-responses");
    let mut sent: Vec<String> = responses.text.1.clone();
    let search =
        json!({ "type": "web_search_call", "id": "ws_1", "status": "completed", "name": "search" });
    for event in [
        json!({ "type": "response.output_item.added", "output_index": 0, "item": search }),
        json!({ "type": "response.web_search_call.searching", "output_index": 0 }),
        json!({ "type": "response.output_item.done", "output_index": 0, "item": search }),
        json!({ "type": "response.hologram.delta", "delta": "not said" }),
    ] {
        sent.insert(3, events(&[event]));
    }
    let reply = streamed(&responses, &sent.concat(), None).await;
    assert_eq!(reply, done(bodies::TEXT, bodies::usage()));
}

#[tokio::test]
async fn calls_of_tools_of_the_provider_are_not_those_of_the_program() {
    let gemini = of("gemini");
    let mut body = gemini.text.0.clone();
    let parts = json!([
        { "executableCode": { "language": "PYTHON", "code": "1+1" } },
        { "codeExecutionResult": { "outcome": "OUTCOME_OK", "output": "2" } },
        { "toolCall": { "toolType": "GOOGLE_SEARCH_WEB", "args": {}, "id": "1" } },
        { "functionCall": { "name": "pay", "willContinue": true } },
        { "functionCall": { "partialArgs": [{ "jsonPath": "$.euros", "numberValue": 5 }], "willContinue": true } },
        { "functionCall": { "name": "pay", "partialArgs": [{ "jsonPath": "$.euros", "numberValue": 5 }] } },
        { "functionCall": {} },
        { "text": "Two." },
    ]);
    body["candidates"][0]["content"]["parts"] = parts;
    let openai = of("openai");
    let mut chat = openai.text.0.clone();
    let calls = json!([
        { "id": "1", "type": "web_search_call", "function": { "name": "pay", "arguments": "{}" } },
        { "id": "2", "type": "function", "function": { "name": "weather", "arguments": "{}" } },
    ]);
    chat["choices"][0]["message"]["tool_calls"] = calls;
    chat["choices"][0]["message"]["content"] = json!("Two.");
    let mut delta = chat.clone();
    let choice = &mut delta["choices"][0];
    choice["delta"] = choice["message"].take();
    choice.as_object_mut().unwrap().remove("message");
    let anthropic = of("anthropic");
    let mut message = anthropic.text.0.clone();
    message["content"] = json!([
        { "type": "server_tool_use", "id": "1", "name": "pay", "input": { "euros": 5 } },
        { "type": "mcp_tool_use", "id": "2", "name": "pay", "server_name": "shop", "input": {} },
        { "type": "text", "text": "Two." },
    ]);
    let responses = of("openai-responses");
    let mut response = responses.text.0.clone();
    response["output"][0]["content"][0]["text"] = json!("Two.");
    let item = response["output"][0].take();
    response["output"] = json!([
        { "type": "mcp_call", "id": "1", "name": "pay", "arguments": "{}", "server_label": "shop" },
        { "type": "code_interpreter_call", "id": "2", "code": "1+1" },
        { "type": "custom_tool_call", "id": "3", "call_id": "3", "name": "pay", "input": "{}" },
        item,
    ]);
    let ended = json!({ "type": "response.completed", "response": response });
    for (of, whole, streams) in [
        (&gemini, &body, Some(&body)),
        (&openai, &chat, Some(&delta)),
        (&anthropic, &message, None),
        (&responses, &response, Some(&ended)),
    ] {
        for way in WAYS {
            let answer = match (way, streams) {
                (Way::Complete, _) => Answer::json(whole),
                (Way::Stream, Some(event)) => {
                    Answer::new("text/event-stream", format!("data: {event}\n\n"))
                }
                (Way::Stream, None) => continue,
            };
            let reply = ask(way, of, answer).await.unwrap();
            assert_eq!(
                (&*reply.content, reply.stop),
                ("Two.", Stop::Done),
                "{}",
                of.model
            );
            let weather = [ToolCall::raw("2", "weather", "{}")];
            let expected: &[ToolCall] = if of.provider == "openai" && of.paths[0] != "/responses" {
                &weather
            } else {
                &[]
            };
            assert_eq!(reply.tool_calls, expected, "{} {way:?}", of.model);
        }
    }
}

#[tokio::test]
async fn the_text_of_a_refusal_is_kept() {
    let anthropic = of("anthropic");
    let body = events(&message(&[said(&["I ", "cannot."])], "refusal"));
    let reply = streamed(&anthropic, &body, None).await;
    assert_eq!((&*reply.content, reply.stop), ("I cannot.", Stop::Filtered));
    let mut body = anthropic.text.0.clone();
    body["content"][0]["text"] = json!("I cannot.");
    body["stop_reason"] = json!("refusal");
    let reply = ask(Way::Complete, &anthropic, Answer::json(&body))
        .await
        .unwrap();
    assert_eq!((&*reply.content, reply.stop), ("I cannot.", Stop::Filtered));
}

/// Some servers do not know streams, and answer as a whole.
#[tokio::test]
async fn a_whole_answer_is_a_stream_too() {
    for of in bodies::all() {
        let reply = ask(Way::Stream, &of, Answer::json(&of.text.0))
            .await
            .unwrap();
        assert_eq!(reply, done(bodies::TEXT, bodies::usage()), "{}", of.model);
    }
}
