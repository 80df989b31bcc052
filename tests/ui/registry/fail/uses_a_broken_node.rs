use flow_loader::registry;
use flow_runtime::prelude::*;

#[node(retry(attempts = 0))] //~
fn review(claim: &str) -> Result<bool, String> {
    Ok(!claim.is_empty())
}

fn main() {
    let _ = registry![review];
}
