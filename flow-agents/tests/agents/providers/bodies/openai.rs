//! Chat Completions of OpenAI.

use serde_json::{Value, json};

use super::{Bodies, PARTS, TEXT, WHY, event};

fn completion(model: &str, message: &Value, stop: &str) -> Value {
    json!({
        "id": "chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT", "object": "chat.completion",
        "created": 1_741_569_952, "model": model,
        "choices": [{ "index": 0, "message": message, "logprobs": null, "finish_reason": stop }],
        "usage": {
            "prompt_tokens": 12, "completion_tokens": 7, "total_tokens": 19,
            "prompt_tokens_details": { "cached_tokens": 4, "audio_tokens": 0 },
        },
        "service_tier": "default",
    })
}

fn part(delta: &Value, stop: Option<&str>) -> String {
    event(&json!({
        "id": "chatcmpl-123", "object": "chat.completion.chunk", "created": 1_694_268_190,
        "model": "gpt-4o-mini-2024-07-18", "system_fingerprint": "fp_44709d6fcb",
        "choices": [{ "index": 0, "delta": delta, "logprobs": null, "finish_reason": stop }],
        "usage": null,
    }))
}

/// A stream of Chat Completions, with its beginning and its end.
pub(crate) fn parts(deltas: &[Value], stop: &str) -> Vec<String> {
    let mut events = vec![part(
        &json!({ "role": "assistant", "content": "", "refusal": null }),
        None,
    )];
    events.extend(deltas.iter().map(|delta| part(delta, None)));
    events.push(part(&json!({}), Some(stop)));
    events.push(event(&json!({
        "id": "chatcmpl-123", "object": "chat.completion.chunk", "created": 1_694_268_190,
        "model": "gpt-4o-mini-2024-07-18", "choices": [],
        "usage": {
            "prompt_tokens": 12, "completion_tokens": 7, "total_tokens": 19,
            "prompt_tokens_details": { "cached_tokens": 4 },
        },
    })));
    events.push("data: [DONE]\n\n".to_owned());
    events
}

pub(super) fn bodies() -> Bodies {
    let said = |content: Value| json!({ "role": "assistant", "content": content, "refusal": null, "annotations": [] });
    let call = |id: &str, name: &str, arguments: &str| json!({ "id": id, "type": "function", "function": { "name": name, "arguments": arguments } });
    let mut calling = said(Value::Null);
    calling["tool_calls"] = json!([
        call("call_a", "weather", r#"{"city":"Köln"}"#),
        call("call_b", "time", r#"{"zone":"Europe/Berlin"}"#),
    ]);
    let more = |index: usize, arguments: &str| json!({ "tool_calls": [{ "index": index, "function": { "arguments": arguments } }] });
    let mut first = json!({ "index": 0, "id": "call_a", "type": "function", "function": { "name": "weath", "arguments": "" } });
    let begun = json!({ "tool_calls": [first] });
    first["index"] = json!(1);
    first["id"] = json!("call_b");
    first["function"]["name"] = json!("time");
    let other = json!({ "tool_calls": [first] });
    let name = json!({ "tool_calls": [{ "index": 0, "function": { "name": "er" } }] });
    let calls = [
        begun,
        other,
        name,
        more(0, r#"{"ci"#),
        more(1, r#"{"zone":"Eur"#),
        more(0, r#"ty":"Köl"#),
        more(1, "ope/Berlin"),
        more(0, r#"n"}"#),
        more(1, r#""}"#),
    ];
    let texts = PARTS.map(|text| json!({ "content": text }));
    let refused = json!({ "role": "assistant", "content": null, "refusal": "I cannot." });
    let refusal = [json!({ "refusal": "I " }), json!({ "refusal": "cannot." })];
    let mut overloaded = parts(&texts, "stop");
    overloaded.truncate(3);
    overloaded.push(event(&json!({ "error": {
        "message": WHY, "type": "server_error", "param": null, "code": null,
    } })));
    let model = "gpt-4o-mini-2024-07-18";
    Bodies {
        model: "openai:gpt-4o-mini",
        provider: "openai",
        paths: ["/chat/completions"; 2],
        key: "authorization: bearer secret",
        text: (
            completion(model, &said(json!(TEXT)), "stop"),
            parts(&texts, "stop"),
        ),
        calls: (
            completion(model, &calling, "tool_calls"),
            parts(&calls, "tool_calls"),
        ),
        long: (
            completion(model, &said(json!("In K")), "length"),
            parts(&texts[..1], "length"),
        ),
        filtered: (completion(model, &refused, "stop"), parts(&refusal, "stop")),
        error: json!({ "error": { "message": WHY, "type": "requests", "param": null, "code": null } }),
        overloaded,
    }
}
