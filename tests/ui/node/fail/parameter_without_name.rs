use flow_runtime::prelude::*;

#[node]
fn pay((net, tip): (u64, u64)) -> u64 { net + tip } //~

fn main() {}
