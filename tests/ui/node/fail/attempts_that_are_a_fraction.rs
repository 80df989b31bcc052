use flow_runtime::prelude::*;

#[node(retry(attempts = 1.5))] //~
fn pay() -> Result<u64, String> { Ok(3) }

fn main() {}
