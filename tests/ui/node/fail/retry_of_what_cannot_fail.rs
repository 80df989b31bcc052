use flow_runtime::prelude::*;

#[node(retry(attempts = 3))] //~
fn pay() -> u64 { 3 }

fn main() {}
