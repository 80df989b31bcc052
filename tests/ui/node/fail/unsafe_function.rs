use flow_runtime::prelude::*;

#[node]
unsafe fn pay() -> u64 { 3 } //~

fn main() {}
