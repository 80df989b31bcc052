use flow_runtime::prelude::*;

#[derive(Default)]
struct Pay;

#[node]
impl Pay {
    fn exec(&self) -> u64 { 3 }
    fn post(&self, prep_res: u64, exec_res: u64) -> u64 { prep_res + exec_res } //~
}

fn main() {}
