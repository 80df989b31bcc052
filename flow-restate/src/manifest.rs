//! What the server is told when it is given the endpoint.

use serde_json::{Value, json};

use crate::continued::HANDLER;

/// The media type of the manifest.
pub(crate) const MEDIA_TYPE: &str = "application/vnd.restate.endpointmanifest.v4+json";

/// A step may take this long after the server has asked to suspend the invocation. Then the server
/// breaks off and runs the step again, so that a shorter time would let a long step never end. That
/// a worker is gone, the server notices by the connection.
const ABORT_MS: u64 = 24 * 60 * 60 * 1000;

/// An invocation that waits this long is suspended, and takes no memory of the worker.
const INACTIVITY_MS: u64 = 60 * 1000;

/// The manifest of flows with these names.
pub(crate) fn manifest<'a>(flows: impl Iterator<Item = &'a str>) -> Value {
    let services: Vec<_> = flows.map(service).collect();
    json!({ "protocolMode": "BIDI_STREAM", "minProtocolVersion": 5, "maxProtocolVersion": 6,
        "services": services })
}

fn service(name: &str) -> Value {
    let input = json!({ "contentType": "application/json", "required": true });
    let output = json!({ "contentType": "application/json", "setContentTypeIfEmpty": false });
    json!({
        "name": name,
        "ty": "WORKFLOW",
        "abortTimeout": ABORT_MS,
        "inactivityTimeout": INACTIVITY_MS,
        "retryPolicyInitialInterval": 100,
        "retryPolicyExponentiationFactor": 2.0,
        "retryPolicyMaxInterval": 10_000,
        "retryPolicyMaxAttempts": 70,
        "retryPolicyOnMaxAttempts": "PAUSE",
        "handlers": [
            { "name": "run", "ty": "WORKFLOW", "input": input, "output": output },
            { "name": "answer", "ty": "SHARED", "input": input, "output": output },
            // The server keeps nothing of it once its caller has what it returns.
            { "name": HANDLER, "ty": "SHARED", "input": input, "output": output,
                "ingressPrivate": true, "journalRetention": 0 },
        ],
    })
}
