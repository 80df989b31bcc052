use flow_runtime::prelude::*;

#[node(writes = receipt, writes = bill)] //~
fn pay() -> u64 { 3 }

fn main() {}
