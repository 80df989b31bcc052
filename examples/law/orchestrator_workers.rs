//! The flow of the example, under the law of loaded flows.

use serde_json::json;

use super::*;

flow_law::law! {
    nodes: [plan, dispatch, analyze, generate, test, synthesize],
    flows: [OrchestratorWorkers { inputs: [json!({ "text": "One thing.\n\nAnother thing, which is longer." })] }],
}
