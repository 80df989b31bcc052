use flow_runtime::prelude::*;

#[node]
fn pay(amounts: &mut Vec<u64>) { amounts.clear() } //~

fn main() {}
