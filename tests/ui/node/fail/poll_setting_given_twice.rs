use flow_runtime::prelude::*;

#[node(writes = found, poll(every = "1s", every = "5h"))] //~
async fn found(id: u64) -> Option<u64> { Some(id) }

fn main() {}
