use flow_loader::registry;
use flow_runtime::prelude::*;

#[node]
fn review(claim: &str) -> bool {
    !claim.is_empty()
}

flow! {
    Desk(claim: String) -> (review: bool) {
        start >> review >> end;
    }
}

fn main() {
    let _ = registry![review, Desk = Desk::new()]; //~
}
