use flow_runtime::prelude::*;

#[node(timeout = "3s", timeout = "4s")] //~
fn pay() -> u64 { 3 }

fn main() {}
