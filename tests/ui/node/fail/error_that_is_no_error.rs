use flow_runtime::prelude::*;

struct Broken;

#[node]
fn pay() -> Result<u64, Broken> { Err(Broken) } //~

fn main() {}
