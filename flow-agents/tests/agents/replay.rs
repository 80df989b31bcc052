use async_trait::async_trait;
use flow_agents::{
    Chunk, Message, Messages, Model, ModelError, OutputSchema, Recorder, Replay, Reply,
    ReplyStream, Request, ScriptedModel, ToolDefinition,
};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use serde_json::json;

fn request(text: &str) -> Request {
    Request::new(&Messages::from_iter([Message::user(text)]))
}

#[tokio::test]
async fn what_was_recorded_is_answered_whole_or_as_a_stream() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("traffic.json");
    let script = ScriptedModel::new()
        .text("one")
        .calls([("search", json!({ "q": 2 }))]);
    let recorder = Recorder::new(script.text("three").usage(3, 1));
    let first = recorder.complete(&request("1")).await.unwrap();
    let chunks = recorder.stream(&request("2")).await.unwrap();
    let second: Vec<Chunk> = chunks.try_collect().await.unwrap();
    drop(recorder.stream(&request("3")).await.unwrap()); // nobody read it to its end
    recorder.save(&file).unwrap();

    let replay = Replay::load(&file).unwrap();
    assert_eq!(replay.left(), 2);
    let chunks = replay.stream(&request("2")).await.unwrap();
    assert_eq!(chunks.try_collect::<Vec<_>>().await.unwrap(), second);
    assert_eq!(replay.complete(&request("1")).await.unwrap(), first);
    assert_eq!(replay.left(), 0);
}

/// Says twice that the answer ended, and leaves the connection open.
struct EndsTwice;

#[async_trait]
impl Model for EndsTwice {
    async fn complete(&self, _: &Request) -> Result<Reply, ModelError> {
        unreachable!("the test asks for streams")
    }

    async fn stream(&self, _: &Request) -> Result<ReplyStream, ModelError> {
        let mut chunks = Reply::default().into_chunks();
        chunks.extend(Reply::default().into_chunks());
        let chunks = stream::iter(chunks).map(Ok).chain(stream::pending());
        Ok(chunks.boxed())
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_recorded_once_and_ends_at_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("traffic.json");
    let recorder = Recorder::new(EndsTwice);
    let chunks = recorder.stream(&request("1")).await.unwrap();
    let hour = std::time::Duration::from_secs(3600);
    let chunks = tokio::time::timeout(hour, chunks.try_collect::<Vec<_>>()).await;
    let chunks = chunks.expect("the open connection is not read").unwrap();
    assert_eq!(chunks, Reply::default().into_chunks());
    recorder.save(&file).unwrap();
    assert_eq!(Replay::load(&file).unwrap().left(), 1);
}

/// Fails in the middle of an answer, and says that it ended all the same.
struct Failing;

#[async_trait]
impl Model for Failing {
    async fn complete(&self, _: &Request) -> Result<Reply, ModelError> {
        unreachable!("the test asks for streams")
    }

    async fn stream(&self, _: &Request) -> Result<ReplyStream, ModelError> {
        let source = "the connection was reset".into();
        let failed = Err(ModelError::Malformed { source });
        let end = Reply::default().into_chunks().into_iter().map(Ok);
        Ok(stream::iter([failed].into_iter().chain(end)).boxed())
    }
}

#[tokio::test]
async fn a_stream_that_fails_ends_there_and_is_not_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("traffic.json");
    let recorder = Recorder::new(Failing);
    let chunks = recorder.stream(&request("1")).await.unwrap();
    let chunks = chunks.collect::<Vec<_>>().await;
    assert!(matches!(chunks[..], [Err(_)]), "{chunks:?}");
    recorder.save(&file).unwrap();
    assert_eq!(Replay::load(&file).unwrap().left(), 0);
}

#[tokio::test]
async fn equal_requests_get_their_answers_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("traffic.json");
    let recorder = Recorder::new(ScriptedModel::new().text("heads").text("tails"));
    for _ in 0..2 {
        recorder.complete(&request("toss")).await.unwrap();
    }
    recorder.save(&file).unwrap();
    let replay = Replay::load(&file).unwrap();
    assert_eq!(
        replay.complete(&request("toss")).await.unwrap().content,
        "heads"
    );
    assert_eq!(
        replay.complete(&request("toss")).await.unwrap().content,
        "tails"
    );
    let error = replay.complete(&request("toss")).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "no answer is recorded for this request: all recorded answers were given; record the \
         traffic anew"
    );
}

#[tokio::test]
async fn a_request_that_was_not_recorded_is_told_where_it_differs() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("traffic.json");
    let recorder = Recorder::new(ScriptedModel::new().text("yes"));
    recorder.complete(&request("really?")).await.unwrap();
    recorder.save(&file).unwrap();
    let replay = Replay::load(&file).unwrap();

    let mut other = request("really?");
    let parameters = json!({ "type": "object" });
    let tool = ToolDefinition::new("search", "Searches.", parameters);
    other.tools = [tool].into();
    let mut longer = request("really?");
    longer.messages.push(Message::user("now"));
    let mut warmer = request("really?");
    warmer.temperature = Some(0.5);
    let mut formed = request("really?");
    formed.output = Some(OutputSchema::new("yes", json!({ "type": "object" })));
    let cases = [
        (formed, "it has to be answered in another form"),
        (other, "its tools are [], and here they are [search]"),
        (longer, "it has 1 messages, and this one has 2"),
        (warmer, "its temperature or its limit of tokens is another"),
        (
            request("no?"),
            "its message 0 is User { content: [Text(\"really?\")] }, and here it is",
        ),
    ];
    for (request, reason) in cases {
        let error = replay.complete(&request).await.unwrap_err().to_string();
        assert!(
            error.contains("recorded answers that are left: 1;"),
            "{error}"
        );
        assert!(error.contains(reason), "{error}");
    }
    assert_eq!(replay.left(), 1);
}

#[test]
fn a_file_that_is_not_a_recording_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("traffic.json");
    let message = || Replay::load(&file).unwrap_err().to_string();
    assert!(
        message().ends_with("traffic.json cannot be read"),
        "{}",
        message()
    );
    let damaged = [
        "",
        "[]",
        r#"{"format":1}"#,
        r#"{"format":1,"exchanges":[],"more":1}"#,
    ];
    for text in damaged {
        std::fs::write(&file, text).unwrap();
        assert!(
            message().ends_with(
                "traffic.json is not a recording of a model's traffic; record the traffic anew"
            ),
            "{}",
            message()
        );
    }
    let later = [
        r#"{"format":2,"exchanges":[]}"#,
        r#"{"turns":[{"asked":"1"}],"format":2}"#,
    ];
    for text in later {
        std::fs::write(&file, text).unwrap();
        assert!(
            message().contains("has format 2, and this version reads format 1"),
            "{}",
            message()
        );
    }
}
