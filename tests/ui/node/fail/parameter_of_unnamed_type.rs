use flow_runtime::prelude::*;

#[node]
fn pay(amount: impl Into<u64>) -> u64 { amount.into() } //~

fn main() {}
