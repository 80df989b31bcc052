use flow_runtime::prelude::*;

struct Pay;

#[node]
impl Iterator for Pay { //~
    type Item = u64;
    fn next(&mut self) -> Option<u64> { None }
}

fn main() {}
