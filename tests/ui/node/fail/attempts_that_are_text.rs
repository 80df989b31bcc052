use flow_runtime::prelude::*;

#[node(retry(attempts = "three"))] //~
fn pay() -> Result<u64, String> { Ok(3) }

fn main() {}
