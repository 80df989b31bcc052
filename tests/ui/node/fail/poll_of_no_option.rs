use flow_runtime::prelude::*;

#[node(poll(every = "1s"))]
fn paid() -> u64 { 3 } //~

fn main() {}
