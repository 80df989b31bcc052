// CF-08
use flow_runtime::prelude::*;

#[derive(Default)]
struct Pay;

#[node]
impl Pay {
    fn prep(&self, amount: &u64) -> u64 { *amount }
    fn exec(&self, amount: u64, discount: &u64) -> u64 { amount - discount } //~
}

fn main() {}
