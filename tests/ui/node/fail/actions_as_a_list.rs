use flow_runtime::prelude::*;

#[node(actions("yes", "no"))] //~
fn pay() -> u64 { 3 }

fn main() {}
