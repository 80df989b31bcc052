use flow_runtime::prelude::*;

#[derive(Default)]
struct Pay;
#[node(retry(attempts = 3))] //~
impl Pay {
    fn prep(&mut self) -> u64 { 3 } //~
    fn exec(&self, amount: u64, tip: u64) -> u64 { amount + tip } //~
    fn exec_fallback(&self, total: u64) -> u64 { total } //~ //~
}

fn main() {}
