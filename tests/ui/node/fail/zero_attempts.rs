use flow_runtime::prelude::*;

#[node(retry(attempts = 0))] //~
fn pay() -> Result<u64, String> { Ok(3) }

fn main() {}

// PF-15
