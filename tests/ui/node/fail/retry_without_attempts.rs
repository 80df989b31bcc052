use flow_runtime::prelude::*;

#[node(retry(wait = "1s"))] //~
fn pay() -> Result<u64, String> { Ok(3) }

fn main() {}
