use flow_agents::tools;
use flow_runtime::prelude::*;

struct Refund { _key: String }

#[node]
impl Refund {
    fn exec(&self, _amount: u64) -> String { String::new() }
}

fn main() {
    let _ = tools![Refund]; //~
}
