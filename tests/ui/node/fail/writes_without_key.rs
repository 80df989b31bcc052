use flow_runtime::prelude::*;

#[node(writes)] //~
fn pay() -> u64 { 3 }

fn main() {}
