use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use flow_agents::{
    Chat, Chunk, Message, Messages, Model, ModelError, Recorder, Reply, ReplyStream, Request,
    ScriptedModel, Stop, Usage,
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
        let text = |text: &str| Ok(Chunk::Text(text.to_owned()));
        let (usage, stop) = (Usage::default(), Stop::Done);
        let mut chunks = vec![text("It "), text("rains."), Ok(Chunk::End { usage, stop })];
        chunks.truncate(if before == 0 { 1 } else { 3 });
        Ok(stream::iter(chunks).boxed())
    }
}

fn question(text: &str) -> Messages {
    Messages::from_iter([Message::user(text)])
}

flow! {
    Once(messages: Messages) -> (messages: Messages) {
        node chat: Chat<Arc<Breaking>>;
        start >> chat >> end;
    }
}

flow! {
    Again(messages: Messages) -> (messages: Messages, reply: Reply) {
        node chat: Chat<Arc<Breaking>> with retry(attempts = 2);
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

/// What a run emits.
#[derive(Default)]
struct Emitted(Mutex<Vec<String>>);

impl Observer for Emitted {
    fn on_event(&self, event: &Event<'_>) {
        if let EventKind::Delta(delta) = event.kind() {
            self.0.lock().unwrap().push(delta.to_owned());
        }
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
    // The first attempt was cut off behind its first part.
    assert_eq!(*emitted.0.lock().unwrap(), ["It ", "It ", "rains."]);
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
        node first: Chat<Arc<Recorder<Arc<ScriptedModel>>>>;
        node gate: Gate;
        node second: Chat<Arc<Recorder<Arc<ScriptedModel>>>>;
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
    let execution = runtime.get(id).await.unwrap().settled().await.unwrap();
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
