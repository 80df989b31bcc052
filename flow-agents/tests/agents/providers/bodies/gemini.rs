//! Answers of Gemini.

use serde_json::{Value, json};

use super::{Bodies, PARTS, TEXT, WHY, event};

fn part(parts: &Value, stop: Option<&str>) -> Value {
    let mut candidate = json!({ "content": { "parts": parts, "role": "model" }, "index": 0 });
    if let Some(stop) = stop {
        candidate["finishReason"] = json!(stop);
    }
    json!({
        "candidates": [candidate],
        "usageMetadata": { "promptTokenCount": 12, "cachedContentTokenCount": 4, "candidatesTokenCount": 5, "thoughtsTokenCount": 2, "totalTokenCount": 19 },
        "modelVersion": "gemini-3-flash-preview", "responseId": "mAitaLmkHPPlz7IPvtfUqQ4",
    })
}

pub(super) fn bodies() -> Bodies {
    let text = |text: &str| json!([{ "text": text }]);
    let call = |name: &str, args: Value| json!({ "functionCall": { "name": name, "args": args } });
    let mut first = call("weather", json!({ "city": "Köln" }));
    first["thoughtSignature"] = json!("c2lnbmF0dXJl");
    let second = call("time", json!({ "zone": "Europe/Berlin" }));
    let blocked = json!({
        "promptFeedback": { "blockReason": "PROHIBITED_CONTENT" },
        "usageMetadata": { "promptTokenCount": 12, "totalTokenCount": 12 },
        "modelVersion": "gemini-3-flash-preview",
    });
    let error = json!({ "error": { "code": 400, "message": WHY, "status": "INVALID_ARGUMENT" } });
    let overloaded = json!({ "error": { "code": 503, "message": WHY, "status": "UNAVAILABLE" } });
    let streamed = |last: &str| {
        vec![
            event(&part(&text(PARTS[0]), None)),
            event(&part(&text(PARTS[1]), None)),
            event(&part(&text(PARTS[2]), Some(last))),
        ]
    };
    Bodies {
        model: "gemini:gemini-3-flash-preview",
        provider: "gcp.gemini",
        paths: [
            "/models/gemini-3-flash-preview:generateContent",
            "/models/gemini-3-flash-preview:streamGenerateContent?alt=sse",
        ],
        key: "x-goog-api-key: secret",
        text: (part(&text(TEXT), Some("STOP")), streamed("STOP")),
        calls: (
            part(&json!([first, second]), Some("STOP")),
            vec![
                event(&part(&json!([first]), None)),
                event(&part(&json!([second]), None)),
                event(&part(&json!([{ "text": "" }]), Some("STOP"))),
            ],
        ),
        long: (
            part(&text("In K"), Some("MAX_TOKENS")),
            vec![event(&part(&text("In K"), Some("MAX_TOKENS")))],
        ),
        filtered: (blocked.clone(), vec![event(&blocked)]),
        error,
        overloaded: vec![event(&part(&text(PARTS[0]), None)), event(&overloaded)],
    }
}
