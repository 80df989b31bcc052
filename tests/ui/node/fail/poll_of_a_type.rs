use flow_runtime::prelude::*;

#[derive(Default)]
struct Pay;

#[node(poll(every = "1s"))] //~
impl Pay {
    fn exec(&self) -> Option<u64> { None }
}

fn main() {}
