use flow_runtime::prelude::*;

#[node(retry(attemps = 3))] //~
fn pay() -> Result<u64, String> { Ok(3) }

fn main() {}
