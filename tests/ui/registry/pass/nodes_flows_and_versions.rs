use flow_loader::{Registry, registry};
use flow_runtime::prelude::*;

mod old {
    #[flow_runtime::node]
    pub fn review(claim: &str) -> bool { claim.len() > 3 }
}

#[node]
fn review(claim: &str) -> bool { !claim.is_empty() }

flow! {
    Desk(claim: String) -> (review: bool) { start >> review >> end; }
}

fn main() {
    let empty: Registry = registry![];
    assert_eq!(empty.with(registry![old::review @ "1.0.0", review @ "2.0.0", Desk]).names().count(), 2);
}
