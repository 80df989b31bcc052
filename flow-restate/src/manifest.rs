//! The manifest that the server reads when the endpoint is registered.

use serde_json::{Value, json};

use crate::continued::HANDLER;

/// The media type of the manifest.
pub(crate) const MEDIA_TYPE: &str = "application/vnd.restate.endpointmanifest.v4+json";

/// The time that a step has after the server asks to suspend the invocation. Afterwards the server
/// aborts the step and runs it again, so with a shorter time a long step would never end. The
/// server notices by the connection if a worker is gone.
const ABORT_MS: u64 = 24 * 60 * 60 * 1000;

/// The time after which a waiting invocation is suspended and frees its memory.
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
            // The server keeps nothing of it once the caller has the result.
            { "name": HANDLER, "ty": "SHARED", "input": input, "output": output,
                "ingressPrivate": true, "journalRetention": 0 },
        ],
    })
}
