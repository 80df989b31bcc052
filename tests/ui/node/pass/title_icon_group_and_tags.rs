use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

#[node(title = "Review the claim", icon = "\u{1f3e6}", group = "finance", tags("slow", "by hand"))]
fn review(claim: &u64) -> u64 {
    *claim
}

/// Whether it is paid.
#[node(human = "Pay?", title = "Payment")]
#[derive(Serialize, Deserialize)]
struct Payment;

fn main() {
    review(&1);
}
