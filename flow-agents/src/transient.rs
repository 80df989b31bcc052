//! Which failures of nodes pass.

use flow_runtime::NodeError;

use crate::ask::error::AskError;
use crate::error::ModelError;

/// Whether another attempt of a node that asks a model may succeed: after a
/// [`ModelError`] that is [transient](ModelError::is_transient), also inside of an [`AskError`], and
/// after a timeout. For `retry(…, if = is_transient)` where a flow declares such a node.
pub fn is_transient(error: &NodeError) -> bool {
    let failed = error.downcast_ref::<ModelError>();
    let asked = error.downcast_ref::<AskError>();
    #[cfg(feature = "rag")]
    if let Some(error) = error.downcast_ref::<crate::rag::RagError>() {
        return error.is_transient();
    }
    error.is_timeout()
        || failed.is_some_and(ModelError::is_transient)
        || asked.is_some_and(AskError::is_transient)
}
