use flow_runtime::prelude::*;

#[derive(Default)]
struct Pay;

#[node]
impl Pay {
    fn prep(&self, amount: &u64) -> u64 { *amount }
    fn exec(&self, amount: &str) -> u64 { amount.len() as u64 } //~
}

fn main() {}
