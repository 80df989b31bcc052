use flow_runtime::prelude::*;

#[node(blocking)] //~
async fn pay() -> u64 { 3 }

fn main() {}
