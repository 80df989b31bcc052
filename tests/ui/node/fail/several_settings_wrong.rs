use flow_runtime::prelude::*;

#[node(
    retry(attempts = 0, wait = 5, backof = 2.0), //~ //~ //~
    timeout = "0s", //~
    writes(receipt, receipt), //~
    speed = 3, //~
)]
fn pay() -> Result<(u64, u64), String> { Ok((3, 4)) }

fn main() {}
