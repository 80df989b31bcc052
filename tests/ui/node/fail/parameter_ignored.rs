use flow_runtime::prelude::*;

#[node]
fn pay(_: &u64) -> u64 { 3 } //~

fn main() {}
