use flow_runtime::prelude::*;

#[node(timeout("3s"))] //~
fn pay() -> u64 { 3 }

fn main() {}
