//! Flows that a runtime knows, whatever their types are.

use std::sync::Arc;

use flow_store::ExecutionId;
use sha2::{Digest as _, Sha256};

use super::driver::{Ended, Work};
use super::engine::Durable;
use super::error::RuntimeError;
use crate::__private::{
    Described, Drive, Hooks as _, Json, QuestionType, Saved, StoredFlow, Unstorable,
};
use crate::flow::Flow;
use crate::scope::Scope;

/// A flow that can be run durably: what it is given, keeps and returns can be stored as JSON. Every flow is one whose values
/// are `Serialize` and `Deserialize`; a plain [`run`](Flow::run) does not need that.
pub trait DurableFlow: Flow + StoredFlow<Json> + Drive<Durable> + Described + 'static {}

impl<F: Flow + StoredFlow<Json> + Drive<Durable> + Described + 'static> DurableFlow for F {}

/// A registered flow.
pub(crate) trait Registered: Send + Sync {
    /// The first segments of all its paths.
    fn namespace(&self) -> &'static str;
    /// Its structure as JSON.
    fn structure(&self) -> &'static str;
    /// What stands for the structure.
    fn hash(&self) -> &str;
    /// A run of it.
    fn run(self: Arc<Self>, execution: ExecutionId, engine: Arc<Durable>, input: Saved) -> Work;
    /// What is asked at a path.
    fn question(&self, path: &str) -> Option<QuestionType>;
}

pub(crate) struct Entry<F> {
    flow: F,
    hash: String,
}

impl<F: DurableFlow> Entry<F> {
    pub(crate) fn new(flow: F) -> Self {
        Entry {
            flow,
            hash: hash_of(F::SPEC),
        }
    }
}

/// SHA-256, in hexadecimal digits.
pub(crate) fn hash_of(text: &str) -> String {
    Sha256::digest(text)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

impl<F: DurableFlow> Registered for Entry<F> {
    fn namespace(&self) -> &'static str {
        F::NAMESPACE
    }

    fn structure(&self) -> &'static str {
        F::SPEC
    }

    fn hash(&self) -> &str {
        &self.hash
    }

    fn run(self: Arc<Self>, execution: ExecutionId, engine: Arc<Durable>, input: Saved) -> Work {
        Box::pin(async move {
            let input = F::load_input(input).map_err(|Unstorable { key, reason }| {
                Ended::Refused(RuntimeError::Unreadable {
                    execution,
                    path: F::NAMESPACE.to_owned(),
                    reason: format!("the stored input `{key}` does not fit its type: {reason}"),
                })
            })?;
            let scope = Scope::root(engine.run(), F::INFO);
            let output = self.flow.drive(&*engine, &scope, input).await;
            let output = output.map_err(|failed| Ended::Failed(*failed))?;
            F::save_output(&output).map_err(|Unstorable { key, reason }| {
                Ended::Refused(RuntimeError::Unstorable {
                    execution: Some(execution),
                    path: F::NAMESPACE.to_owned(),
                    reason: format!("`{key}`: {reason}"),
                })
            })
        })
    }

    fn question(&self, path: &str) -> Option<QuestionType> {
        let within = path.strip_prefix(F::NAMESPACE)?.strip_prefix('.')?;
        F::question(within)
    }
}
