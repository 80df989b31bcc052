use flow_runtime::prelude::*;

#[node(writes = receipt timeout = "3s")] //~
async fn pay() -> u64 { 3 }

fn main() {}
