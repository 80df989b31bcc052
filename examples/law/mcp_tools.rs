//! The flows of the example, under the law of loaded flows.

use super::*;

flow_law::law! {
    nodes: [add, divide],
    flows: [
        Add { inputs: [json!({ "a": "2", "b": "3" })] },
        Divide { inputs: [json!({ "a": "7", "b": "2" }), json!({ "a": "7", "b": "0" })] },
    ],
}
