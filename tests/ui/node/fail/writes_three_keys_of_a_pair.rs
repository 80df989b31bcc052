use flow_runtime::prelude::*;

#[node(writes(receipt, bill, tip))]
fn pay() -> Result<(u64, u64), String> { Ok((3, 4)) } //~

fn main() {}
