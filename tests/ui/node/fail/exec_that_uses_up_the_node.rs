use flow_runtime::prelude::*;

#[derive(Default)]
struct Pay;

#[node]
impl Pay {
    fn exec(self) -> u64 { 3 } //~
}

fn main() {}
