//! Answers that are passed on while they come.

use std::sync::{Arc, Mutex};

use flow_agents::{Ask, Model, ModelError, Reply, Request, ScriptedModel};
use flow_runtime::prelude::*;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::in_flows::post;
use super::{Parcel, question};

/// Gives the same answers in parts of three characters.
struct InParts(ScriptedModel);

#[async_trait::async_trait]
impl Model for InParts {
    async fn complete(&self, _: &Request) -> Result<Reply, ModelError> {
        unreachable!("streams are asked for")
    }

    async fn stream(&self, request: &Request) -> Result<flow_agents::ReplyStream, ModelError> {
        use futures_util::{StreamExt as _, stream};
        let reply = self.0.complete(request).await?;
        let letters: Vec<char> = reply.content.chars().collect();
        let texts = letters
            .chunks(3)
            .map(|it| Ok(flow_agents::Chunk::text(it.iter().collect::<String>())));
        let end = Ok(flow_agents::Chunk::end(reply.usage, reply.stop));
        Ok(stream::iter(texts.chain([end]).collect::<Vec<_>>()).boxed())
    }
}

async fn parts<T: DeserializeOwned + JsonSchema>(script: ScriptedModel) -> Vec<Value> {
    let mut parts = Vec::new();
    let messages = question("Well?");
    let model = InParts(script);
    let asked = Ask::new(&model, &messages).on_part(|part| parts.push(part.clone()));
    asked.answer::<T>().await.map(drop).unwrap();
    model.0.assert_used();
    parts
}

#[tokio::test]
async fn an_answer_is_passed_on_while_it_comes() {
    let script = ScriptedModel::new().text(r#"Here: {"weight": 120, "toWhom": "Ann B"} "#);
    assert_eq!(
        parts::<Parcel>(script).await,
        [
            json!({}),
            json!({ "weight": 120 }),
            json!({ "weight": 120, "toWhom": "Ann" }),
            json!({ "weight": 120, "toWhom": "Ann B" }),
        ]
    );
}

#[tokio::test]
async fn the_parts_of_an_answer_that_is_not_an_object_are_passed_on_without_what_is_around_it() {
    let script = ScriptedModel::new().text(r#"{"answer": ["ab", "cd"]}"#);
    let expected = [json!([]), json!(["ab"]), json!(["ab", "cd"])];
    assert_eq!(parts::<Vec<String>>(script).await, expected);
    // Without it, the answer is the one part.
    let script = ScriptedModel::new().text(r#"["ab", "cd"]"#);
    assert_eq!(parts::<Vec<String>>(script).await, [json!(["ab", "cd"])]);
}

#[tokio::test]
async fn the_parts_begin_anew_when_the_model_is_asked_again() {
    let script = ScriptedModel::new()
        .text(r#"{"weight": "x"}"#)
        .text(r#"{"weight": 1, "toWhom": ""}"#);
    let parts = parts::<Parcel>(script).await;
    let expected = [
        json!({}),
        json!({ "weight": "x" }),
        json!({}),
        json!({ "weight": 1 }),
    ];
    assert_eq!(parts[..4], expected);
    assert_eq!(parts.last(), Some(&json!({ "weight": 1, "toWhom": "" })));
}

#[derive(Default)]
struct Parts(Mutex<Vec<Value>>);

impl Observer for Parts {
    fn on_event(&self, event: &Event<'_>) {
        if let EventKind::DeltaJson(json) = event.kind() {
            self.0
                .lock()
                .unwrap()
                .push(serde_json::from_str(json).unwrap());
        }
    }
}

#[tokio::test]
async fn the_parts_are_emitted_to_the_observers_of_the_run() {
    let script = ScriptedModel::new().text(r#"{"do": "PASS_ON"}"#);
    let seen = Arc::new(Parts::default());
    post(script, RunOptions::new().observer(seen.clone()))
        .await
        .unwrap();
    assert_eq!(*seen.0.lock().unwrap(), [json!({ "do": "PASS_ON" })]);
}
