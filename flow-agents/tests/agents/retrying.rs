use std::time::Duration;

use flow_agents::{Message, Messages, Model, ModelError, Reply, Request, Retrying, ScriptedModel};
use tokio::time::Instant;

fn request() -> Request {
    Request::new(&Messages::from_iter([Message::user("hello")]))
}

fn limited(retry_after: Option<u64>) -> ModelError {
    ModelError::RateLimited {
        retry_after: retry_after.map(Duration::from_secs),
        message: "too many requests".to_owned(),
    }
}

async fn timed(model: &impl Model) -> (Result<Reply, ModelError>, Duration) {
    let start = Instant::now();
    let reply = model.complete(&request()).await;
    (reply, start.elapsed())
}

#[tokio::test(start_paused = true)]
async fn it_waits_as_long_as_the_provider_asks() {
    let script = ScriptedModel::new().error(limited(Some(7))).text("hello");
    let (reply, took) = timed(&Retrying::new(script)).await;
    assert_eq!(reply.unwrap().content, "hello");
    assert_eq!(took.as_secs(), 7);
}

#[tokio::test(start_paused = true)]
async fn pauses_double_if_the_provider_asks_for_none() {
    let script = ScriptedModel::new()
        .error(limited(None))
        .error(limited(None));
    let model = Retrying::new(script.error(limited(None)).text("hello"));
    let (reply, took) = timed(&model.max_wait(Duration::from_secs(3))).await;
    assert_eq!(reply.unwrap().content, "hello");
    assert_eq!(took.as_secs(), 1 + 2 + 3);
}

#[tokio::test(start_paused = true)]
async fn a_longer_wait_than_allowed_is_the_error_at_once() {
    let script = ScriptedModel::new().error(limited(Some(3600)));
    let (reply, took) = timed(&Retrying::new(script)).await;
    assert_eq!(
        reply.unwrap_err().to_string(),
        "the provider limits the rate of requests, and asks to wait 3600s: too many requests"
    );
    assert_eq!(took, Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn it_stops_after_its_attempts_and_at_what_does_not_pass() {
    let script = ScriptedModel::new()
        .error(limited(None))
        .error(limited(None));
    let model = Retrying::new(script.text("too late")).attempts(2);
    let (reply, _) = timed(&model).await;
    assert!(matches!(reply, Err(ModelError::RateLimited { .. })));

    let source = "the key is wrong".into();
    let script = ScriptedModel::new().error(ModelError::Refused { source });
    let model = Retrying::new(script.text("never"));
    let (reply, took) = timed(&model).await;
    assert!(matches!(reply, Err(ModelError::Refused { .. })));
    assert_eq!(took, Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_stream_is_asked_for_again_until_it_begins() {
    let script = ScriptedModel::new().error(limited(Some(2))).text("hello");
    let model = Retrying::new(script);
    let start = Instant::now();
    assert!(model.stream(&request()).await.is_ok());
    assert_eq!(start.elapsed().as_secs(), 2);
}
