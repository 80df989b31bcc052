use flow_runtime::prelude::*;

#[node]
fn review(claim: &u64) -> String {
    claim.to_string()
}

#[node(writes = receipt)]
fn review(review: &str) -> String { //~
    format!("paid {review}")
}

flow! {
    Approval(claim: u64) -> (review: String) { start >> review >> end; }
}

fn main() {}
