use flow_runtime::prelude::*;

#[node]
fn review(claim: &u64) -> u64 {
    *claim
}

flow! {
    Desk(claim: u64) -> (review: u64) {
        node review: review with title = "Review the claim"; //~
        start >> review >> end;
    }
}

fn main() {}
