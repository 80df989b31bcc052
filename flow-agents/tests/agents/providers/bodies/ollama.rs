//! Chat Completions of Ollama, which has whole calls in its parts.

use serde_json::json;

use super::openai::parts;
use super::{Bodies, PARTS, WHY, event, openai};

pub(super) fn bodies() -> Bodies {
    let of = openai::bodies();
    let calls = |index: usize, id: &str, name: &str, arguments: &str| {
        json!({ "role": "assistant", "content": "", "tool_calls": [{
            "id": id, "index": index, "type": "function",
            "function": { "name": name, "arguments": arguments },
        }] })
    };
    let thought = json!({ "role": "assistant", "content": "", "reasoning": "Hm." });
    let mut texts = vec![thought];
    texts.extend(PARTS.map(|text| json!({ "role": "assistant", "content": text })));
    Bodies {
        model: "ollama:qwen3:4b",
        provider: "ollama",
        key: "authorization: bearer secret",
        text: (of.text.0, parts(&texts, "stop")),
        calls: (
            of.calls.0,
            parts(
                &[
                    calls(0, "call_a", "weather", r#"{"city":"Köln"}"#),
                    calls(1, "call_b", "time", r#"{"zone":"Europe/Berlin"}"#),
                ],
                "tool_calls",
            ),
        ),
        long: (of.long.0, parts(&texts[..2], "length")),
        filtered: (of.filtered.0, parts(&[], "content_filter")),
        error: json!({ "error": { "message": WHY, "type": "not_found_error", "param": null, "code": null } }),
        overloaded: vec![
            parts(&texts, "stop")[0].clone(),
            event(
                &json!({ "error": { "message": WHY, "type": "api_error", "param": null, "code": null } }),
            ),
        ],
        ..openai::bodies()
    }
}
