use flow_runtime::prelude::*;

#[node(writes(receipt, receipt))] //~
fn pay() -> (u64, u64) { (3, 4) }

fn main() {}
