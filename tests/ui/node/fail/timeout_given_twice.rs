use flow_runtime::prelude::*;

#[node(timeout = "3s", timeout = "4s")] //~
async fn pay() -> u64 { 3 }

fn main() {}
