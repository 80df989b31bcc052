use flow_runtime::prelude::*;

#[derive(Default)]
struct Pay;

#[node]
impl Pay {
    fn prep(&self, amount: &u64) -> u64 { *amount }
    fn exec(&self, amount: u64) -> Result<u64, String> { Ok(amount) }
    fn exec_fallback(&self, discount: &u64) -> u64 { *discount } //~
}

fn main() {}

// CB-18 (a)
