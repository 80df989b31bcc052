use flow_runtime::prelude::*;

#[node("pay")] //~
fn pay() -> u64 { 3 }

fn main() {}
