//! The turns of an agent that are tried again.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use flow_agents::agent::{Agent, AgentInput};
use flow_agents::{
    Chunk, Message, Messages, Model, ModelError, Reply, ReplyStream, Request, Retrying,
    ScriptedModel, Stop, ToolCall, Tools, Usage, tools,
};
use flow_runtime::prelude::*;
use futures_util::StreamExt as _;
use serde_json::json;

fn input() -> AgentInput {
    let messages = Messages::from_iter([Message::user("What is a crab?")]);
    AgentInput::builder().messages(messages).build()
}

/// A model whose first stream of each turn breaks off, and that calls a tool before it answers.
struct Breaking(Mutex<u32>);

#[async_trait::async_trait]
impl Model for Breaking {
    async fn complete(&self, _: &Request) -> Result<Reply, ModelError> {
        unreachable!("an agent reads streams")
    }

    async fn stream(&self, request: &Request) -> Result<ReplyStream, ModelError> {
        let mut asked = self.0.lock().unwrap();
        *asked += 1;
        let cut = ModelError::CutOff {
            characters: 3,
            calls: 0,
        };
        let call = ToolCall::new("call_1", "count", &json!({}));
        let (calls, text) = match request.messages.len() {
            1 => (vec![call], "Let me see."),
            _ => (Vec::new(), "One."),
        };
        let whole = Reply::new(text, calls, Usage::default(), Stop::Done).into_chunks();
        let chunks: Vec<_> = match *asked % 2 {
            1 => vec![Ok(Chunk::text("Let")), Err(cut)],
            _ => whole.into_iter().map(Ok).collect(),
        };
        Ok(futures_util::stream::iter(chunks).boxed())
    }
}

static COUNT: AtomicU32 = AtomicU32::new(0);

/// Counts.
#[node]
fn count() -> u32 {
    COUNT.fetch_add(1, Ordering::Relaxed) + 1
}

/// What a reader sees who drops the text of an attempt that has failed.
#[derive(Default)]
struct Screen(Mutex<(String, u32)>);

impl Observer for Screen {
    fn on_event(&self, event: &Event<'_>) {
        let mut screen = self.0.lock().unwrap();
        match event.kind() {
            EventKind::Delta(text) => screen.0.push_str(text),
            EventKind::AttemptFailed { .. } => {
                assert!(screen.0.ends_with("Let"));
                let kept = screen.0.len() - 3;
                screen.0.truncate(kept);
                screen.1 += 1;
            }
            _ => {}
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_breaks_off_is_tried_again_without_a_tool_being_called_again() {
    let screen = Arc::new(Screen::default());
    let model = Breaking(Mutex::new(0));
    let options = RunOptions::new().observer(screen.clone());
    let agent = Agent::of(model, tools![count]);
    let output = agent.run_with(input(), options).await.unwrap();
    assert_eq!(output.answer.as_deref(), Some("One."));
    assert_eq!(output.messages[2], Message::tool("call_1", "1"));
    assert_eq!(output.turns, 2);
    assert_eq!(*screen.0.lock().unwrap(), ("Let me see.One.".to_owned(), 2));
}

#[tokio::test(start_paused = true)]
async fn a_turn_is_tried_again_so_often_and_after_what_passes() {
    let busy = |seconds: Option<u64>| ModelError::Unavailable {
        retry_after: seconds.map(Duration::from_secs),
        source: "it is busy".into(),
    };
    let refused = ModelError::Refused {
        source: "no such key".into(),
    };
    for (errors, attempts, least) in [
        ([None, None, None, None].map(busy).into(), Err(4), 3),
        ([Some(30), None].map(busy).into(), Ok(3), 30),
        (vec![busy(Some(3600))], Err(1), 0),
        (vec![refused], Err(1), 0),
    ] {
        let model = ScriptedModel::new();
        let model = Vec::into_iter(errors).fold(model, ScriptedModel::error);
        let model = Arc::new(model.text("An animal."));
        let began = tokio::time::Instant::now();
        let output = Agent::of(Arc::clone(&model), Tools::new())
            .run(input())
            .await;
        let asked = model.requests().len();
        assert_eq!(output.map(|_| asked).map_err(|_| asked), attempts);
        let took = began.elapsed().as_secs();
        assert!((least..least + 10).contains(&took), "{took}");
    }
}

/// Retries inside of the retries of a turn do not multiply.
#[tokio::test(start_paused = true)]
async fn a_turn_that_its_model_gives_up_is_not_tried_again() {
    let busy = |seconds: Option<u64>| ModelError::Unavailable {
        retry_after: seconds.map(Duration::from_secs),
        source: "it is busy".into(),
    };
    for (waits, expected) in [
        (vec![None; 20], 4),
        (vec![Some(7); 20], 4),
        (vec![None, Some(30)], 2),
    ] {
        let model = waits.into_iter().map(busy);
        let model = model.fold(ScriptedModel::new(), ScriptedModel::error);
        let model = Arc::new(model.text("An animal."));
        let retrying = Retrying::new(Arc::clone(&model)).max_wait(Duration::from_secs(10));
        let output = Agent::of(retrying, Tools::new()).run(input()).await;
        assert!(output.is_err());
        assert_eq!(model.requests().len(), expected);
    }
}

/// An answer that a provider breaks off is none that the model is asked for again by a `Retrying`.
#[tokio::test(start_paused = true)]
async fn a_turn_that_breaks_off_is_tried_again_also_by_a_model_that_retries() {
    let model = Arc::new(Breaking(Mutex::new(0)));
    let retrying = Retrying::new(Arc::clone(&model));
    let output = Agent::of(retrying, Tools::new()).run(input()).await;
    assert_eq!(output.unwrap().answer.as_deref(), Some("One."));
    assert_eq!(*model.0.lock().unwrap(), 4);
}
