use flow_runtime::prelude::*;

#[node(timeout = "3 moons")] //~
fn pay() -> u64 { 3 }

fn main() {}
