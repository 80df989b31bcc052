use flow_runtime::prelude::*;

#[derive(Default)]
struct Pay;

#[node]
impl Pay {
    fn exec(&self, amount: &u64) -> u64 { *amount }
    fn post(&self, exec_res: String) -> usize { exec_res.len() } //~
}

fn main() {}
