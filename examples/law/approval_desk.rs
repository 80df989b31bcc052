//! The flow of the example, under the law of loaded flows.

use serde_json::{Value, json};

use super::*;

fn large(amount: u64) -> Value {
    json!({ "employee": "Ann", "amount": amount, "purpose": "a lamp" })
}

flow_law::law! {
    nodes: [measure, Decision, pay, tell_paid, tell_rejected, tell_late],
    flows: [
        // The decision of a person is made up for each.
        ExpenseClaim {
            inputs: [large(501), large(502), large(503), large(504), large(505), large(506)],
        },
    ],
}
