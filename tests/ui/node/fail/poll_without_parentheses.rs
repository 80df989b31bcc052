use flow_runtime::prelude::*;

#[node(poll = "1s")] //~
fn paid() -> Option<u64> { None }

fn main() {}
