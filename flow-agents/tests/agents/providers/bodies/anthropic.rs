//! Messages of Anthropic.

use serde_json::{Value, json};

use super::{Bodies, PARTS, TEXT, WHY, named};

fn message(content: &Value, stop: &str) -> Value {
    json!({
        "id": "msg_01XFDUDYJgAACzvnptvVoYEL", "type": "message", "role": "assistant",
        "model": "claude-sonnet-4-5-20250929", "content": content, "stop_reason": stop,
        "stop_sequence": null, "usage": {
            "input_tokens": 8, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 4,
            "output_tokens": 7,
        },
    })
}

fn events(blocks: &[(Value, Vec<Value>)], stop: &str) -> Vec<String> {
    let mut message = message(&json!([]), "");
    message["stop_reason"] = Value::Null;
    message["usage"]["output_tokens"] = json!(1);
    let mut events = vec![json!({ "type": "message_start", "message": message })];
    for (index, (block, deltas)) in blocks.iter().enumerate() {
        events
            .push(json!({ "type": "content_block_start", "index": index, "content_block": block }));
        events.push(json!({ "type": "ping" }));
        events.extend(
            deltas.iter().map(
                |delta| json!({ "type": "content_block_delta", "index": index, "delta": delta }),
            ),
        );
        events.push(json!({ "type": "content_block_stop", "index": index }));
    }
    let delta = json!({ "stop_reason": stop, "stop_sequence": null });
    events
        .push(json!({ "type": "message_delta", "delta": delta, "usage": { "output_tokens": 7 } }));
    events.push(json!({ "type": "message_stop" }));
    events.iter().map(named).collect()
}

pub(super) fn bodies() -> Bodies {
    let text = |text: &str| json!({ "type": "text", "text": text });
    let said = |texts: &[&str]| {
        let deltas = texts
            .iter()
            .map(|it| json!({ "type": "text_delta", "text": it }));
        (text(""), deltas.collect::<Vec<_>>())
    };
    let call = |id: &str, name: &str, input: Value| json!({ "type": "tool_use", "id": id, "name": name, "input": input });
    let called = |id: &str, name: &str, parts: &[&str]| {
        let deltas = parts
            .iter()
            .map(|it| json!({ "type": "input_json_delta", "partial_json": it }));
        (call(id, name, json!({})), deltas.collect::<Vec<_>>())
    };
    let thought = json!({ "type": "thinking", "thinking": "Rain?", "signature": "c2lnbmF0dXJl" });
    let thinking = (
        json!({ "type": "thinking", "thinking": "", "signature": "" }),
        vec![
            json!({ "type": "thinking_delta", "thinking": "Ra" }),
            json!({ "type": "thinking_delta", "thinking": "in?" }),
            json!({ "type": "signature_delta", "signature": "c2lnbmF0dXJl" }),
        ],
    );
    let calls = json!([
        thought,
        call("call_a", "weather", json!({ "city": "Köln" })),
        call("call_b", "time", json!({ "zone": "Europe/Berlin" })),
    ]);
    let stream = [
        thinking,
        called(
            "call_a",
            "weather",
            &["", r#"{"ci"#, r#"ty":"Köl"#, r#"n"}"#],
        ),
        called(
            "call_b",
            "time",
            &["", r#"{"zone":"Eur"#, r#"ope/Berlin"}"#],
        ),
    ];
    let error = json!({ "type": "error", "error": { "type": "invalid_request_error", "message": WHY }, "request_id": "req_1" });
    let mut overloaded = events(&[said(&PARTS)], "end_turn");
    overloaded.truncate(4);
    overloaded.push(named(
        &json!({ "type": "error", "error": { "type": "overloaded_error", "message": WHY } }),
    ));
    Bodies {
        model: "anthropic:claude-sonnet-4-5",
        provider: "anthropic",
        paths: ["/messages"; 2],
        key: "x-api-key: secret",
        text: (
            message(&json!([text(TEXT)]), "end_turn"),
            events(&[said(&PARTS)], "end_turn"),
        ),
        calls: (message(&calls, "tool_use"), events(&stream, "tool_use")),
        long: (
            message(&json!([text("In K")]), "max_tokens"),
            events(&[said(&PARTS[..1])], "max_tokens"),
        ),
        filtered: (message(&json!([]), "refusal"), events(&[], "refusal")),
        error,
        overloaded,
    }
}
