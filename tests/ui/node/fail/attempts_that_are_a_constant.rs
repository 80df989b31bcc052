use flow_runtime::prelude::*;

const ATTEMPTS: u32 = 3;

#[node(retry(attempts = ATTEMPTS))] //~
fn pay() -> Result<u64, String> { Ok(3) }

fn main() {}
