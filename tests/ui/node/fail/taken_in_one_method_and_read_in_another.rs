use flow_runtime::prelude::*;

#[derive(Default)]
struct Pay;

#[node]
impl Pay {
    fn prep(&self, name: String) -> String { name }
    fn exec(&self, name: &str) -> u64 { name.len() as u64 }
    fn post(&self, exec_res: u64, name: &str) -> u64 { exec_res + name.len() as u64 } //~
}

fn main() {}
