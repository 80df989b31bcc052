use flow_runtime::prelude::*;

#[derive(Default)]
struct Pay;

#[node(retry(attempts = 3))] //~
impl Pay {
    fn prep(&self) -> Result<u64, String> { Ok(3) }
    fn exec(&self, amount: u64) -> u64 { amount }
}

fn main() {}
