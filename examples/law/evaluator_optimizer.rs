//! The flow of the example, under the law of loaded flows.

use serde_json::json;

use super::*;

flow_law::law! {
    nodes: [evaluate, improve],
    flows: [EvaluatorOptimizer { inputs: [json!({ "text": "We utilize it in order to commence" })] }],
}
