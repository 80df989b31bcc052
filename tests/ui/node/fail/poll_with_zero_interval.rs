use flow_runtime::prelude::*;

#[node(poll(every = "0s"))] //~
fn paid() -> Option<u64> { None }

fn main() {}
