use flow_runtime::prelude::*;

#[node]
fn numbers() -> impl Iterator<Item = u64> { 0..3 } //~

fn main() {}
