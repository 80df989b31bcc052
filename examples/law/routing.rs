//! The flow of the example, under the law of loaded flows.

use serde_json::json;

use super::*;

flow_law::law! {
    nodes: [classify, refund, support, answer],
    flows: [Routing { inputs: [json!({ "message": "I want a refund for order 17" }), json!({ "message": "error E42" })] }],
}
