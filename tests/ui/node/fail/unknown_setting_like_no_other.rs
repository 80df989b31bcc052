use flow_runtime::prelude::*;

#[node(priority = 3)] //~
fn pay() -> u64 { 3 }

fn main() {}
