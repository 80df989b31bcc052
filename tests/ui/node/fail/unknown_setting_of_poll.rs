use flow_runtime::prelude::*;

#[node(poll(evry = "1s"))] //~
fn paid() -> Option<u64> { None }

fn main() {}
