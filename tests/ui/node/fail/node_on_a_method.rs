use flow_runtime::prelude::*;

struct Pay;

impl Pay {
    #[node]
    fn pay(&self) -> u64 { 3 } //~
}

fn main() {}
