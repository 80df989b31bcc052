use flow_runtime::prelude::*;

#[node(actions = Paid)] //~ //~
fn pay() -> u64 { 3 }

fn main() {}
