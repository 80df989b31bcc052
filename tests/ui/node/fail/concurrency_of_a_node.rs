use flow_runtime::prelude::*;

#[node(concurrency(4))] //~
fn pay() -> u64 { 3 }

fn main() {}
