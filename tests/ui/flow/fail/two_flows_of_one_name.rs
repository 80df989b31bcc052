use flow_runtime::prelude::*;

#[node]
fn review(claim: &u64) -> String {
    claim.to_string()
}

flow! {
    Approval(claim: u64) -> (review: String) {
        start >> review >> end;
    }
}

flow! {
    Approval(claim: u64) -> (review: Option<String>) { start >> review >> end; } //~
}

fn main() {}
