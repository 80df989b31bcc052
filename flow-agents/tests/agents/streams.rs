use flow_agents::{
    Chunk, Messages, Model, ModelError, Reply, ReplyBuilder, Request, ScriptedModel, Stop,
    ToolCall, ToolCallChunk, Usage,
};
use futures_util::TryStreamExt as _;
use serde_json::json;

fn call(index: usize, id: Option<&str>, name: &str, arguments: &str) -> Chunk {
    let mut part = ToolCallChunk::new(index);
    part.id = id.map(str::to_owned);
    part.name = name.to_owned();
    part.arguments = arguments.to_owned();
    Chunk::ToolCall(part)
}

fn end() -> Chunk {
    Chunk::end(Usage::new(7, 5), Stop::Done)
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
            ToolCall::raw("call_2", "now", ""),
        ]
    );
    assert_eq!(reply.usage.total(), 12);
}

#[test]
fn what_a_provider_wants_back_stays_with_its_call() {
    let mut call = ToolCall::new("a", "search", &json!({}));
    call.extra = Some(json!({ "signature": "x" }));
    let plain = ToolCall::new("b", "search", &json!({}));
    let reply = Reply::new("", vec![call, plain], Usage::new(7, 5), Stop::Done);
    let mut chunks = reply.clone().into_chunks();
    let mut late = ToolCallChunk::new(0);
    late.arguments = " ".to_owned();
    chunks.insert(1, Chunk::ToolCall(late));
    let again = built(chunks).unwrap();
    assert_eq!(again.tool_calls[0].extra, reply.tool_calls[0].extra);
    assert_eq!(again.tool_calls[1].extra, None);

    let kept = serde_json::to_string(&reply).unwrap();
    assert_eq!(serde_json::from_str::<Reply>(&kept).unwrap(), reply);
    let older = r#"{"id":"a","name":"search","arguments":"{}"}"#;
    let call = ToolCall::new("a", "search", &json!({}));
    assert_eq!(serde_json::from_str::<ToolCall>(older).unwrap(), call);
    assert_eq!(serde_json::to_string(&call).unwrap(), older);
}

fn ids(reply: &Reply) -> Vec<&str> {
    reply.tool_calls.iter().map(|call| &*call.id).collect()
}

#[test]
fn an_empty_id_does_not_replace_the_id_of_a_call() {
    let chunks = [Some("a"), Some(""), None].map(|id| call(0, id, "now", ""));
    let reply = built(chunks.into_iter().chain([end()])).unwrap();
    assert_eq!(ids(&reply), ["a"]);

    let reply = built([
        call(0, Some(""), "now", ""),
        call(0, Some("a"), "", ""),
        end(),
    ])
    .unwrap();
    assert_eq!(ids(&reply), ["a"]);
}

#[test]
fn a_call_without_an_id_gets_one_that_no_other_call_has() {
    let last = usize::MAX;
    let calls = [
        call(0, None, "first", ""),
        call(1, Some("call_0"), "second", ""),
        call(2, Some("call_1"), "third", ""),
        call(3, Some(""), "fourth", ""),
        call(4, Some("call_3"), "fifth", ""),
        call(last, None, "last", ""),
        call(last - 1, Some(&format!("call_{last}")), "one before", ""),
    ];
    let reply = built(calls.into_iter().chain([end()])).unwrap();
    let before = format!("call_{last}");
    assert_eq!(
        ids(&reply),
        [
            "call_2", "call_0", "call_1", "call_4", "call_3", &before, "call_5"
        ]
    );
}

#[test]
fn what_comes_behind_the_end_is_not_of_the_answer() {
    let text = |text| Chunk::text(text);
    let cut = Chunk::end(Usage::default(), Stop::Length);
    let reply = built([text("It rains."), end(), text(" No."), cut]).unwrap();
    assert_eq!(reply.content, "It rains.");
    assert_eq!((reply.usage.total(), reply.stop), (12, Stop::Done));
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
