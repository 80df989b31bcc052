//! The nodes.

use anyhow::{Context as _, Result};
use async_trait::async_trait;
use bench_harness::work;
use pocketflow_rs::{Context, Node, ProcessResult, ProcessState};
use serde_json::{Value, json};

#[derive(Clone, Default)]
pub enum Action {
    #[default]
    Default,
    Again,
    Done,
    Left,
    Middle,
    Right,
}

impl ProcessState for Action {
    fn is_default(&self) -> bool {
        matches!(self, Action::Default)
    }

    fn to_condition(&self) -> String {
        let condition = match self {
            Action::Default => "default",
            Action::Again => "again",
            Action::Done => "done",
            Action::Left => "left",
            Action::Middle => "middle",
            Action::Right => "right",
        };
        condition.to_string()
    }
}

fn read(context: &Context, key: &str) -> Result<u64> {
    let value = context.get(key).and_then(Value::as_u64);
    value.with_context(|| format!("no {key}"))
}

/// A node without an action: its `post_process` is the default one.
macro_rules! node {
    ($name:ident |$context:ident| $found:block) => {
        pub struct $name;

        #[async_trait]
        impl Node for $name {
            type State = Action;

            async fn execute(&self, $context: &Context) -> Result<Value> {
                Ok(json!($found))
            }
        }
    };
}

node! { Add |context| { work::add(read(context, "result")?) } }

node! { TryAdd |context| { work::checked_add(read(context, "result")?)? } }

node! { WaitingAdd |context| {
    work::give_way().await;
    work::add(read(context, "result")?)
} }

node! { Touch |context| {
    let payload = context.get("result").and_then(Value::as_str);
    work::touch_text(payload.context("no payload")?.to_owned())
} }

node! { Meet |context| { work::double(read(context, "result")?) } }

pub struct Plus(pub u64);

#[async_trait]
impl Node for Plus {
    type State = Action;

    async fn execute(&self, context: &Context) -> Result<Value> {
        Ok(json!(work::plus(read(context, "result")?, self.0)))
    }
}

pub struct Check;

#[async_trait]
impl Node for Check {
    type State = Action;

    async fn execute(&self, context: &Context) -> Result<Value> {
        let (total, limit) = (read(context, "result")?, read(context, "limit")?);
        Ok(json!(work::is_enough(total, limit)))
    }

    async fn post_process(
        &self,
        _context: &mut Context,
        result: &Result<Value>,
    ) -> Result<ProcessResult<Action>> {
        let action = match result {
            Ok(Value::Bool(false)) => Action::Again,
            _ => Action::Done,
        };
        Ok(ProcessResult::new(action, String::new()))
    }
}

pub struct Choose;

#[async_trait]
impl Node for Choose {
    type State = Action;

    async fn execute(&self, context: &Context) -> Result<Value> {
        Ok(json!(work::way(read(context, "result")?)))
    }

    async fn post_process(
        &self,
        _context: &mut Context,
        result: &Result<Value>,
    ) -> Result<ProcessResult<Action>> {
        let action = match result.as_ref().ok().and_then(Value::as_u64) {
            Some(0) => Action::Left,
            Some(1) => Action::Middle,
            _ => Action::Right,
        };
        Ok(ProcessResult::new(action, String::new()))
    }
}
