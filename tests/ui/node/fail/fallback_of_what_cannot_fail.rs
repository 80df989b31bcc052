use flow_runtime::prelude::*;

#[derive(Default)]
struct Pay;

#[node]
impl Pay {
    fn exec(&self) -> u64 { 3 }
    fn exec_fallback(&self) -> u64 { 0 } //~
}

fn main() {}
