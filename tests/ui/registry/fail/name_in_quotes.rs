use flow_loader::registry;
use flow_runtime::prelude::*;

#[node]
fn review(claim: &str) -> bool { !claim.is_empty() }

fn main() {
    let _ = registry!["review"]; //~
}
