//! Classifies failures of nodes as transient.

use std::error::Error;

use flow_runtime::NodeError;

use crate::ask::error::AskError;
use crate::error::ModelError;

/// Returns true if another attempt of a node that asks a model may succeed. This is the case after
/// a timeout, and after a [`ModelError`] that is [transient](ModelError::is_transient), also within
/// an [`AskError`]. For `retry(…, if = is_transient)` where a flow declares such a node.
///
/// An error of your own node counts as the first of these in its chain of [sources](Error::source).
///
/// # Examples
/// ```
/// use std::sync::Arc;
///
/// use flow_agents::{Message, Messages, Model, ModelError, Request, ScriptedModel, is_transient};
/// use flow_runtime::prelude::*;
///
/// #[derive(Debug, thiserror::Error)]
/// enum NoNumber {
///     #[error("the model does not answer")]
///     Model(#[from] ModelError),
///     #[error("the answer is no number")]
///     Other(#[from] std::num::ParseIntError),
/// }
///
/// struct Number {
///     model: Arc<dyn Model>,
/// }
///
/// #[node(writes = number)]
/// impl Number {
///     async fn exec(&self, question: &str) -> Result<u64, NoNumber> {
///         let messages = Messages::from_iter([Message::user(question)]);
///         let reply = self.model.complete(&Request::new(&messages)).await?;
///         Ok(reply.into_complete()?.content.parse()?)
///     }
/// }
///
/// flow! {
///     Count(question: String) -> (number: u64) {
///         node number: Number with retry(attempts = 3, if = is_transient);
///         start >> number >> end;
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let busy = ModelError::Unavailable { retry_after: None, source: "it is busy".into() };
/// let script = Arc::new(ScriptedModel::new().error(busy).text("many").text("7"));
/// let count = Count::builder().number(Number { model: script.clone() }).build();
/// let question = "How many?".to_owned();
/// let error = count.run(CountInput { question }).await.unwrap_err();
/// assert!(error.to_string().contains("failed after 2 attempts"), "{error}");
/// # }
/// ```
pub fn is_transient(error: &NodeError) -> bool {
    let mut cause = error.source();
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<ModelError>() {
            return error.is_transient();
        }
        if let Some(error) = error.downcast_ref::<AskError>() {
            return error.is_transient();
        }
        #[cfg(feature = "rag")]
        if let Some(error) = error.downcast_ref::<crate::rag::RagError>() {
            return error.is_transient();
        }
        cause = error.source();
    }
    error.is_timeout()
}
