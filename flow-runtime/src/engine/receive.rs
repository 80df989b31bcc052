//! Signals from the sender that the options of a run name.

use serde_json::Value;

use crate::error::Failed;
use crate::node_error::{Failure, TimedOut};
use crate::observer::EventKind;
use crate::run::Run;
use crate::visit::Visit;

/// Takes a signal of this name from the sender of a run's options:
/// [`RunOptions::signals`](crate::RunOptions::signals). Waits until one comes; without a sender,
/// none does.
///
/// # Errors
///
/// [`FlowError::Node`](crate::FlowError::Node) if the node has a timeout, and none comes in time.
///
/// # Cancel safety
///
/// If the future is dropped, no signal is taken.
pub async fn receive(run: &Run, visit: Visit<'_>, name: &str) -> Result<Value, Failed> {
    let receiver = run.options().and_then(|options| options.signals.as_deref());
    let signal = async {
        match receiver {
            Some(receiver) => receiver.take(name).await,
            None => std::future::pending().await,
        }
    };
    let Some(after) = visit.timeout() else {
        return Ok(signal.await);
    };
    match tokio::time::timeout(after, signal).await {
        Ok(signal) => Ok(signal),
        Err(_) => {
            let failure = Failure::Deadline(TimedOut { after });
            let error = visit.attempts().exhausted(failure);
            visit.emit(EventKind::NodeFailed { error: &error });
            Err(error.into())
        }
    }
}
