use flow_runtime::prelude::*;

#[node(retry(attempts = 3, wait = "0s"))] //~
fn pay() -> Result<u64, String> { Ok(3) }

fn main() {}
