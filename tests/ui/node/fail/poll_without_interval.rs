use flow_runtime::prelude::*;

#[node(poll(timeout = "1h"))] //~
fn paid() -> Option<u64> { None }

fn main() {}
