use flow_runtime::prelude::*;

#[node(retry(attempts = 3, wait = "200"))] //~
fn pay() -> Result<u64, String> { Ok(3) }

fn main() {}
