use std::error::Error as _;
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
    let (reply, took) = timed(&Retrying::new(script).jitter(0.0)).await;
    assert_eq!(reply.unwrap().content, "hello");
    assert_eq!(took.as_secs(), 7);
}

/// How long items wait that are refused in the same way, and whether all return together.
async fn waits(retry_after: Option<u64>, max_wait: u64) -> (Duration, Duration, bool) {
    fastrand::seed(7);
    let mut waits = Vec::new();
    for _ in 0..40 {
        let script = ScriptedModel::new()
            .error(limited(retry_after))
            .text("hello");
        let model = Retrying::new(script).wait(Duration::from_secs(4));
        let (reply, took) = timed(&model.max_wait(Duration::from_secs(max_wait))).await;
        assert_eq!(reply.unwrap().content, "hello");
        waits.push(took);
    }
    waits.sort();
    (waits[0], waits[39], waits[0] == waits[39])
}

#[tokio::test(start_paused = true)]
async fn items_that_are_refused_together_do_not_return_together() {
    let seconds = |seconds| Duration::from_secs_f64(seconds);
    let slack = Duration::from_millis(1); // as finely as the timer counts
    let cases = [
        (None, 60, 2.0, 4.0),
        (Some(10), 60, 10.0, 15.0),
        (Some(0), 60, 0.0, 2.0),
        (Some(10), 11, 10.0, 11.0),
    ];
    for (asked, max_wait, from, to) in cases {
        let (first, last, together) = waits(asked, max_wait).await;
        assert!(!together, "{asked:?}: {first:?}");
        assert!(first >= seconds(from), "{asked:?}: {first:?}");
        assert!(last <= seconds(to) + slack, "{asked:?}: {last:?}");
        let middle = seconds((from + to) / 2.0);
        assert!(
            first < middle && middle < last,
            "{asked:?}: {first:?} to {last:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn pauses_double_if_the_provider_asks_for_none() {
    let script = ScriptedModel::new()
        .error(limited(None))
        .error(limited(None));
    let model = Retrying::new(script.error(limited(None)).text("hello")).jitter(0.0);
    let (reply, took) = timed(&model.max_wait(Duration::from_secs(3))).await;
    assert_eq!(reply.unwrap().content, "hello");
    assert_eq!(took.as_secs(), 1 + 2 + 3);
}

#[tokio::test(start_paused = true)]
async fn a_longer_wait_than_allowed_is_the_error_at_once() {
    let script = ScriptedModel::new().error(limited(Some(3600)));
    let (reply, took) = timed(&Retrying::new(script)).await;
    let error = reply.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the model gave no answer, and is not asked again; attempts: 1"
    );
    assert_eq!(
        error.source().unwrap().to_string(),
        "the provider limits the rate of requests, and asks to wait 3600s: too many requests"
    );
    let wait = Some(Duration::from_secs(3600));
    assert_eq!((error.is_transient(), error.retry_after()), (true, wait));
    assert_eq!(took, Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn it_stops_after_its_attempts_and_at_what_does_not_pass() {
    let script = ScriptedModel::new()
        .error(limited(None))
        .error(limited(None));
    let model = Retrying::new(script.text("too late")).attempts(2);
    let (reply, _) = timed(&model).await;
    let Err(ModelError::GivenUp {
        attempts: 2,
        source,
    }) = reply
    else {
        panic!("{reply:?}");
    };
    assert!(matches!(*source, ModelError::RateLimited { .. }));

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
    let model = Retrying::new(script).jitter(0.0);
    let start = Instant::now();
    assert!(model.stream(&request()).await.is_ok());
    assert_eq!(start.elapsed().as_secs(), 2);
}
