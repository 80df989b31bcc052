use flow_runtime::prelude::*;

#[node(timeout = "0ms")] //~
fn pay() -> u64 { 3 }

fn main() {}
