//! Decisions of a model in a flow.

use std::sync::Arc;

use flow_agents::{Ask, AskError, Model, ModelError, ScriptedModel, is_transient};
use flow_runtime::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;

use super::question;

/// Asks whose parcel it is.
struct Sort(Arc<dyn Model>);

/// What is done with a parcel. Its names for serde are others than those of its actions.
#[derive(Action, Deserialize, JsonSchema)]
#[serde(tag = "do", rename_all = "SCREAMING_SNAKE_CASE")]
enum Handling {
    SendBack {
        #[serde(rename = "because")]
        reason: String,
    },
    PassOn,
}

#[node(actions = Handling)]
impl Sort {
    async fn exec(&self, cx: &Context, label: &str) -> Result<Handling, AskError> {
        let messages = question(label);
        let answered = Ask::new(&self.0, &messages).emit(cx).answer().await?;
        Ok(answered.value)
    }
}

#[node(writes = done)]
fn explain(reason: &str) -> String {
    format!("back: {reason}")
}

#[node(writes = done)]
fn deliver() -> String {
    "delivered".to_owned()
}

flow! {
    Post(label: String) -> (done: String) {
        node sort: Sort with retry(attempts = 2, if = is_transient);
        start >> sort;
        sort - "send_back" >> explain >> end;
        sort - "pass_on" >> deliver >> end;
    }
}

pub(super) async fn post(script: ScriptedModel, options: RunOptions) -> Result<String, FlowError> {
    let script = Arc::new(script);
    let flow = Post::builder().sort(Sort(script.clone())).build();
    let label = "To Ann".to_owned();
    let output = flow.run_with(PostInput { label }, options).await;
    script.assert_used();
    Ok(output?.done)
}

#[tokio::test]
async fn a_model_decides_which_way_a_flow_goes() {
    let script = ScriptedModel::new().text(r#"{"do": "SEND_BACK", "because": "no stamp"}"#);
    assert_eq!(
        post(script, RunOptions::new()).await.unwrap(),
        "back: no stamp"
    );
    let script = ScriptedModel::new().text(r#"{"answer": {"do": "PASS_ON"}}"#);
    assert_eq!(post(script, RunOptions::new()).await.unwrap(), "delivered");
}

#[tokio::test]
async fn a_node_that_asks_for_a_type_is_tried_again_after_an_error_that_passes() {
    let limited = || ModelError::RateLimited {
        retry_after: None,
        message: "slow".to_owned(),
    };
    let script = ScriptedModel::new()
        .error(limited())
        .text(r#"{"do": "PASS_ON"}"#);
    assert_eq!(post(script, RunOptions::new()).await.unwrap(), "delivered");

    let script = ScriptedModel::new().text("").text("").text("");
    let error = post(script, RunOptions::new()).await.unwrap_err();
    let error = format!("{error:#}");
    assert!(
        error.contains("failed after 1 attempt: the answer of the model does not fit; requests: 3"),
        "{error}"
    );
    let script = ScriptedModel::new().error(limited()).error(limited());
    let error = format!("{:#}", post(script, RunOptions::new()).await.unwrap_err());
    assert!(
        error.ends_with("the provider limits the rate of requests: slow"),
        "{error}"
    );
}
