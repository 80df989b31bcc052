//! The flows that a runtime knows, whatever their types.

use std::sync::Arc;

use flow_runtime::Flow;
use flow_runtime::engine::{
    AnyFlow, Drive, Json, QuestionType, RunError, Saved, StoredFlow, Unstorable,
};
use flow_store::ExecutionId;
use sha2::{Digest as _, Sha256};

use super::driver::{Ended, Work};
use super::engine::Durable;
use super::error::RuntimeError;

/// A flow that can run durably: its inputs, state and outputs can be stored as JSON. Every flow
/// whose values are `Serialize` and `Deserialize` implements it; a plain [`run`](Flow::run) does
/// not need it.
pub trait DurableFlow: Flow + StoredFlow<Json> + Drive<Durable> + 'static {}

impl<F: Flow + StoredFlow<Json> + Drive<Durable> + 'static> DurableFlow for F {}

/// A registered flow.
pub(crate) struct Registered {
    flow: Arc<dyn AnyFlow<Durable>>,
    hash: String,
}

impl Registered {
    pub(crate) fn new(flow: impl AnyFlow<Durable> + 'static) -> Self {
        Registered {
            hash: hash_of(flow.structure()),
            flow: Arc::new(flow),
        }
    }

    /// The first segments of the paths of its nodes.
    pub(crate) fn namespace(&self) -> &str {
        self.flow.namespace()
    }

    /// Its structure as JSON.
    pub(crate) fn structure(&self) -> &str {
        self.flow.structure()
    }

    /// The hash of the structure.
    pub(crate) fn hash(&self) -> &str {
        &self.hash
    }

    /// The question at a path.
    pub(crate) fn question(&self, path: &str) -> Option<QuestionType> {
        self.flow.question(path)
    }

    /// A run of it.
    pub(crate) fn run(&self, execution: ExecutionId, engine: Arc<Durable>, input: Saved) -> Work {
        let flow = self.flow.clone();
        Box::pin(async move {
            let output = flow.run(&engine, input).await;
            output.map_err(|error| {
                let path = flow.namespace().to_owned();
                match error {
                    RunError::Failed(failed) => Ended::Failed(*failed),
                    RunError::Input(Unstorable { key, reason }) => {
                        Ended::Refused(RuntimeError::Unreadable {
                            execution,
                            path,
                            reason: format!(
                                "the stored input `{key}` does not fit its type: {reason}"
                            ),
                        })
                    }
                    RunError::Output(Unstorable { key, reason }) => {
                        Ended::Refused(RuntimeError::Unstorable {
                            execution: Some(execution),
                            path,
                            reason: format!("`{key}`: {reason}"),
                        })
                    }
                }
            })
        })
    }
}

/// SHA-256, in hexadecimal digits.
pub(crate) fn hash_of(text: &str) -> String {
    Sha256::digest(text)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
