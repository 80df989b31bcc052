//! The flow of the example, under the law of loaded flows.

use serde_json::json;

use super::*;

flow_law::law! {
    nodes: [parse_line, average_grade],
    flows: [Student { inputs: [json!({ "line": "Ada Lovelace,98,100" })] }],
    not_json: [Class, School],
}
