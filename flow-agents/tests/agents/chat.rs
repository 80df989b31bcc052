use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use flow_agents::{
    Chat, Chunk, Message, Messages, Model, ModelError, Recorder, Reply, ReplyStream, Request,
    ScriptedModel, Stop, Usage, is_transient,
};
use flow_durable::{MemoryStore, Runtime, StartOptions};
use flow_runtime::prelude::*;
use futures_util::StreamExt as _;
use futures_util::stream;
use tokio::sync::{Notify, Semaphore};

/// Breaks off the first stream in the middle.
#[derive(Default)]
struct Breaking(std::sync::atomic::AtomicUsize);

#[async_trait]
impl Model for Breaking {
    async fn complete(&self, _: &Request) -> Result<Reply, ModelError> {
        unreachable!("the node asks for streams")
    }

    async fn stream(&self, _: &Request) -> Result<ReplyStream, ModelError> {
        let before = self.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        let text = |text| Ok(Chunk::text(text));
        let end = Ok(Chunk::end(Usage::default(), Stop::Done));
        let mut chunks = vec![text("It "), text("rains."), end];
        chunks.truncate(if before == 0 { 1 } else { 3 });
        Ok(stream::iter(chunks).boxed())
    }
}

fn question(text: &str) -> Messages {
    Messages::from_iter([Message::user(text)])
}

flow! {
    Once(messages: Messages) -> (messages: Messages) {
        node chat: Chat;
        start >> chat >> end;
    }
}

flow! {
    Again(messages: Messages) -> (messages: Messages, reply: Reply) {
        node chat: Chat with retry(attempts = 2);
        start >> chat >> end;
    }
}

#[tokio::test]
async fn an_answer_that_was_cut_off_is_an_error_and_never_a_short_answer() {
    let flow = Once::builder()
        .chat(Chat::new(Arc::new(Breaking::default())))
        .build();
    let error = flow
        .run(OnceInput {
            messages: question("Why?"),
        })
        .await
        .unwrap_err();
    assert!(format!("{error:?}").contains("CutOff"), "{error:?}");
}

#[tokio::test]
async fn an_answer_that_was_cut_off_is_asked_for_again_if_the_node_retries() {
    let flow = Again::builder()
        .chat(Chat::new(Arc::new(Breaking::default())))
        .build();
    let output = flow
        .run(AgainInput {
            messages: question("Weather?"),
        })
        .await
        .unwrap();
    assert_eq!(output.reply.content, "It rains.");
    assert_eq!(
        *output.messages,
        [Message::user("Weather?"), Message::assistant("It rains.")]
    );
}

/// What a run emits, and where an attempt failed.
#[derive(Default)]
struct Emitted(Mutex<Vec<String>>);

impl Observer for Emitted {
    fn on_event(&self, event: &Event<'_>) {
        let line = match event.kind() {
            EventKind::Delta(delta) => delta.to_owned(),
            EventKind::AttemptFailed { attempt, .. } => {
                format!("{} failed: {attempt}", event.path())
            }
            _ => return,
        };
        self.0.lock().unwrap().push(line);
    }
}

#[tokio::test]
async fn the_text_is_emitted_as_it_comes() {
    let flow = Again::builder()
        .chat(Chat::new(Arc::new(Breaking::default())))
        .build();
    let emitted = Arc::new(Emitted::default());
    let options = RunOptions::new().observer(emitted.clone());
    let input = AgainInput {
        messages: question("Weather?"),
    };
    flow.run_with(input, options).await.unwrap();
    // The first attempt was cut off behind its first part. The second one begins anew.
    assert_eq!(
        *emitted.0.lock().unwrap(),
        ["It ", "again.chat failed: 0", "It ", "rains."]
    );
}

flow! {
    Scripted(messages: Messages) -> (messages: Messages, reply: Reply) {
        node chat: Chat with retry(attempts = 3, if = is_transient);
        start >> chat >> end;
    }
}

/// Why a flow that asks a scripted model fails.
async fn failure(model: ScriptedModel) -> String {
    let model = Arc::new(model);
    let flow = Scripted::builder().chat(Chat::new(model.clone())).build();
    let messages = question("Why?");
    let error = flow.run(ScriptedInput { messages }).await.unwrap_err();
    model.assert_used();
    format!("{error:#}")
}

fn stopped(content: &str, stop: Stop) -> Reply {
    Reply::new(content, Vec::new(), Usage::default(), stop)
}

#[tokio::test]
async fn an_answer_that_reached_its_limit_is_an_error_that_is_not_tried_again() {
    let model = ScriptedModel::new().reply(stopped("It rains, an", Stop::Length));
    assert_eq!(
        failure(model).await,
        "node `scripted.chat` failed after 1 attempt: the answer reached the limit of tokens \
         before its end; characters before that: 12, tool calls: 0; allow more with `max_tokens`, \
         or ask for a shorter answer"
    );
}

#[tokio::test]
async fn an_answer_that_was_held_back_is_an_error_that_is_not_tried_again() {
    let model = ScriptedModel::new().reply(stopped("", Stop::Filtered));
    assert_eq!(
        failure(model).await,
        "node `scripted.chat` failed after 1 attempt: the provider held the answer back; \
         characters before that: 0, tool calls: 0"
    );
}

#[tokio::test]
async fn an_error_that_passes_is_tried_again_and_one_that_does_not_is_not() {
    let limited = ModelError::RateLimited {
        retry_after: None,
        message: "slow down".to_owned(),
    };
    let refused = ModelError::Refused {
        source: "the key is wrong".into(),
    };
    let model = ScriptedModel::new().error(limited).error(refused);
    assert_eq!(
        failure(model).await,
        "node `scripted.chat` failed after 2 attempts: the provider refuses the request: the key \
         is wrong"
    );
}

/// Gives no answer the first time.
#[derive(Default)]
struct Slow(std::sync::atomic::AtomicUsize);

#[async_trait]
impl Model for Slow {
    async fn complete(&self, _: &Request) -> Result<Reply, ModelError> {
        match self.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst) {
            0 => std::future::pending().await,
            _ => Ok(stopped("It rains.", Stop::Done)),
        }
    }
}

flow! {
    InTime(messages: Messages) -> (messages: Messages) {
        node chat: Chat
            with retry(attempts = 2, if = is_transient), timeout = "1m";
        start >> chat >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn a_timeout_is_tried_again() {
    let chat = Chat::new(Arc::new(Slow::default()));
    let messages = question("Weather?");
    let output = InTime::builder().chat(chat).build();
    let output = output.run(InTimeInput { messages }).await.unwrap();
    assert_eq!(output.messages[1], Message::assistant("It rains."));
}

/// Whether it is complete is not known.
#[tokio::test]
async fn an_answer_that_stopped_for_another_reason_is_an_error() {
    let stop = Stop::Other("pause_turn".to_owned());
    let model = ScriptedModel::new().reply(stopped("It rains.", stop));
    let chat = Chat::new(Arc::new(model));
    let messages = question("Weather?");
    let output = Scripted::builder().chat(chat).build();
    let error = output.run(ScriptedInput { messages }).await.unwrap_err();
    let error = std::error::Error::source(&error).unwrap().to_string();
    assert!(
        error.contains("\"pause_turn\", a reason that is not known here"),
        "{error}"
    );
}

/// Ends its answer, and not its connection: that fails once, and then is open for ever.
#[derive(Default)]
struct Open(std::sync::atomic::AtomicUsize);

#[async_trait]
impl Model for Open {
    async fn complete(&self, _: &Request) -> Result<Reply, ModelError> {
        unreachable!("the node asks for streams")
    }

    async fn stream(&self, _: &Request) -> Result<ReplyStream, ModelError> {
        let before = self.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        let answer = stream::iter(stopped("It rains.", Stop::Done).into_chunks());
        let behind = if before == 0 {
            let source = "the connection was reset".into();
            let retry_after = None;
            stream::iter([Err(ModelError::Unavailable {
                retry_after,
                source,
            })])
            .boxed()
        } else {
            stream::pending().boxed()
        };
        Ok(answer.map(Ok).chain(behind).boxed())
    }
}

flow! {
    ReadToEnd(messages: Messages) -> (messages: Messages) {
        node chat: Chat with timeout = "1h";
        start >> chat >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_connection_does_behind_the_answer_does_not_matter() {
    let chat = Chat::new(Arc::new(Open::default()));
    let flow = ReadToEnd::builder().chat(chat).build();
    for _ in 0..2 {
        let messages = question("Weather?");
        let output = flow.run(ReadToEndInput { messages }).await.unwrap();
        assert_eq!(output.messages[1], Message::assistant("It rains."));
    }
}

/// Says that it was reached, and lets a run pass when it may.
struct Gate(Arc<Notify>, Arc<Semaphore>);

#[node(writes = messages)]
impl Gate {
    async fn exec(&self, messages: Messages) -> Result<Messages, tokio::sync::AcquireError> {
        self.0.notify_one();
        let _permit = self.1.acquire().await?;
        let mut messages = messages;
        messages.add_user("And then?");
        Ok(messages)
    }
}

flow! {
    Twice(messages: Messages) -> (messages: Messages) {
        node first: Chat;
        node gate: Gate;
        node second: Chat;
        start >> first >> gate >> second >> end;
    }
}

#[tokio::test]
async fn a_model_is_not_asked_again_after_a_crash() {
    let script = Arc::new(
        ScriptedModel::new()
            .text("It rains.")
            .text("The sun shines."),
    );
    let model = Arc::new(Recorder::new(Arc::clone(&script)));
    let (reached, gate) = (Arc::new(Notify::new()), Arc::new(Semaphore::new(0)));
    let flow = || {
        let first = Chat::new(Arc::clone(&model))
            .temperature(0.2)
            .max_tokens(50);
        let gate = Gate(Arc::clone(&reached), Arc::clone(&gate));
        let second = Chat::new(Arc::clone(&model));
        Twice::builder()
            .first(first)
            .gate(gate)
            .second(second)
            .build()
    };
    let store = Arc::new(MemoryStore::new());
    let runtime = Runtime::new(Arc::clone(&store));
    runtime.register(flow()).unwrap();
    let input = TwiceInput {
        messages: question("Weather?"),
    };
    let id = runtime
        .executions()
        .start::<Twice>(input, StartOptions::new())
        .await
        .unwrap()
        .id();
    reached.notified().await;
    runtime.shut_down().await;
    assert_eq!(script.requests().len(), 1);

    gate.add_permits(1);
    let runtime = Runtime::new(store);
    runtime.register(flow()).unwrap();
    assert_eq!(runtime.recover().await.unwrap().resumed, [id]);
    let execution = runtime
        .executions()
        .get(id)
        .await
        .unwrap()
        .settled()
        .await
        .unwrap();
    let output = execution.output::<Twice>().unwrap().expect("it ended");
    let texts: Vec<_> = output.messages.iter().map(Message::text).collect();
    assert_eq!(
        texts,
        ["Weather?", "It rains.", "And then?", "The sun shines."]
    );
    script.assert_used();
    let [first, second] = &script.requests()[..] else {
        panic!("{:?}", script.requests())
    };
    assert_eq!((first.temperature, first.max_tokens), (Some(0.2), Some(50)));
    assert_eq!((second.temperature, second.messages.len()), (None, 3));
}
