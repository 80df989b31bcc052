//! Responses of OpenAI.

use serde_json::{Value, json};

use super::{Bodies, PARTS, TEXT, WHY, named, openai};

fn response(output: &Value, status: &str) -> Value {
    let reason = (status == "incomplete").then(|| json!({ "reason": "max_output_tokens" }));
    json!({
        "id": "resp_67ccd2bed1ec8190b14f964abc0542670bb6a6b452d3795b", "object": "response",
        "created_at": 1_741_476_542, "status": status, "error": null, "incomplete_details": reason,
        "instructions": null, "max_output_tokens": null, "model": "gpt-5-mini-2025-08-07",
        "output": output, "parallel_tool_calls": true, "previous_response_id": null,
        "store": false, "temperature": 1.0, "tool_choice": "auto", "tools": [], "truncation": "disabled",
        "usage": {
            "input_tokens": 12, "input_tokens_details": { "cached_tokens": 4 },
            "output_tokens": 7, "output_tokens_details": { "reasoning_tokens": 0 }, "total_tokens": 19,
        },
        "user": null, "metadata": {},
    })
}

fn response_events(parts: &[Value], output: &Value, status: &str) -> Vec<String> {
    let mut begun = response(&json!([]), "in_progress");
    begun["usage"] = Value::Null;
    let mut events = vec![
        json!({ "type": "response.created", "response": begun }),
        json!({ "type": "response.in_progress", "response": begun }),
    ];
    events.extend_from_slice(parts);
    events.push(
        json!({ "type": format!("response.{status}"), "response": response(output, status) }),
    );
    events.iter().map(named).collect()
}

pub(super) fn bodies() -> Bodies {
    let message = |part: Value| {
        json!([{
            "type": "message", "id": "msg_1", "status": "completed", "role": "assistant", "content": [part],
        }])
    };
    let text =
        |text: &str| message(json!({ "type": "output_text", "text": text, "annotations": [] }));
    let refused = message(json!({ "type": "refusal", "refusal": "I cannot." }));
    let delta = |kind: &str, delta: &str| {
        json!({
            "type": format!("response.{kind}.delta"), "item_id": "msg_1", "output_index": 0,
            "content_index": 0, "delta": delta,
        })
    };
    let call = |id: &str, name: &str, arguments: &str| {
        json!({
            "type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": name,
            "arguments": arguments, "status": "completed",
        })
    };
    let thought = json!({ "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2lnbmF0dXJl" });
    let calls = [
        call("call_a", "weather", r#"{"city":"Köln"}"#),
        call("call_b", "time", r#"{"zone":"Europe/Berlin"}"#),
    ];
    let added = |index: usize, item: &Value| json!({ "type": "response.output_item.added", "output_index": index, "item": item });
    let done = |index: usize, item: &Value| json!({ "type": "response.output_item.done", "output_index": index, "item": item });
    let more = |index: usize, delta: &str| {
        json!({
            "type": "response.function_call_arguments.delta", "item_id": "fc", "output_index": index, "delta": delta,
        })
    };
    let stream = [
        added(0, &thought),
        done(0, &thought),
        added(1, &call("call_a", "weather", "")),
        added(2, &call("call_b", "time", "")),
        more(1, r#"{"ci"#),
        more(2, r#"{"zone":"Eur"#),
        more(1, r#"ty":"Köln"}"#),
        more(2, r#"ope/Berlin"}"#),
        done(1, &calls[0]),
        done(2, &calls[1]),
    ];
    let output = json!([thought, calls[0], calls[1]]);
    let texts = PARTS.map(|part| delta("output_text", part));
    let refusals = [delta("refusal", "I "), delta("refusal", "cannot.")];
    let mut overloaded = response_events(&texts[..1], &json!([]), "completed");
    overloaded.pop();
    let mut failed = response(&json!([]), "failed");
    failed["error"] = json!({ "code": "server_error", "message": WHY });
    overloaded.push(named(
        &json!({ "type": "response.failed", "response": failed }),
    ));
    Bodies {
        model: "openai-responses:gpt-5-mini",
        provider: "openai",
        paths: ["/responses"; 2],
        text: (
            response(&text(TEXT), "completed"),
            response_events(&texts, &text(TEXT), "completed"),
        ),
        calls: (
            response(&output, "completed"),
            response_events(&stream, &output, "completed"),
        ),
        long: (
            response(&text("In K"), "incomplete"),
            response_events(&texts[..1], &text("In K"), "incomplete"),
        ),
        filtered: (
            response(&refused, "completed"),
            response_events(&refusals, &refused, "completed"),
        ),
        overloaded,
        ..openai::bodies()
    }
}
