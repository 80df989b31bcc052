use flow_agents::{
    Chunk, Messages, Model, ModelError, Reply, ReplyBuilder, Request, ScriptedModel, Stop,
    ToolCall, ToolCallChunk, Usage,
};
use futures_util::TryStreamExt as _;
use serde_json::json;

fn call(index: usize, id: Option<&str>, name: &str, arguments: &str) -> Chunk {
    Chunk::ToolCall(ToolCallChunk {
        index,
        id: id.map(str::to_owned),
        name: name.to_owned(),
        arguments: arguments.to_owned(),
    })
}

fn end() -> Chunk {
    let usage = Usage {
        input_tokens: 7,
        output_tokens: 5,
    };
    let stop = Stop::Done;
    Chunk::End { usage, stop }
}

fn built(chunks: impl IntoIterator<Item = Chunk>) -> Result<Reply, ModelError> {
    let mut reply = ReplyBuilder::new();
    for chunk in chunks {
        reply.push(chunk);
    }
    reply.finish()
}

#[test]
fn calls_are_put_together_by_their_index() {
    let reply = built([
        Chunk::Text("Let me ".to_owned()),
        call(1, Some("b"), "con", ""),
        call(0, Some("a"), "search", r#"{"wor"#),
        Chunk::Text("see.".to_owned()),
        call(1, Some("b"), "vert", "{}"),
        call(0, None, "", r#"ds":"x"}"#),
        call(2, None, "now", ""),
        end(),
    ])
    .unwrap();
    assert_eq!(reply.content, "Let me see.");
    assert_eq!(
        reply.tool_calls,
        [
            ToolCall::new("a", "search", &json!({ "words": "x" })),
            ToolCall::new("b", "convert", &json!({})),
            ToolCall {
                id: "call_2".to_owned(),
                name: "now".to_owned(),
                arguments: String::new(),
            },
        ]
    );
    assert_eq!(reply.usage.total(), 12);
}

#[test]
fn a_stream_without_an_end_was_cut_off() {
    let error = built([
        Chunk::Text("It ra".to_owned()),
        call(0, None, "search", "{"),
    ])
    .unwrap_err();
    assert!(error.is_transient());
    assert_eq!(
        error.to_string(),
        "the provider's answer was cut off; characters before that: 5, tool calls: 1"
    );
}

#[tokio::test]
async fn a_model_that_cannot_stream_answers_with_all_parts() {
    let script = ScriptedModel::new().calls([("search", json!({ "q": 1 })), ("now", json!({}))]);
    let model = script.usage(7, 5);
    let chunks = model.stream(&Request::new(&Messages::new())).await.unwrap();
    let chunks: Vec<Chunk> = chunks.try_collect().await.unwrap();
    assert_eq!(
        chunks,
        [
            call(0, Some("call_1"), "search", r#"{"q":1}"#),
            call(1, Some("call_2"), "now", "{}"),
            end(),
        ]
    );
}

#[test]
#[should_panic(expected = "requests to the scripted model: 0; replies in its script: 1")]
fn a_script_that_was_not_used_up_is_told() {
    ScriptedModel::new().text("never asked for").assert_used();
}
