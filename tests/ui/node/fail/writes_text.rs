use flow_runtime::prelude::*;

#[node(writes = "receipt")] //~
fn pay() -> u64 { 3 }

fn main() {}
