//! The flow of the example, under the law of loaded flows.

use serde_json::json;

use super::*;

flow_law::law! {
    nodes: [outline, check_outline, draft, polish],
    flows: [PromptChaining { inputs: [json!({ "topic": "crabs" })] }],
}
