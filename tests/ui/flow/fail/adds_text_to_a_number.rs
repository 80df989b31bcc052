// A text is added to a sum.
use flow_runtime::prelude::*;

#[node(writes = +total)]
fn price() -> String { "3".to_owned() }

flow! {
    Cart() -> (total: u64) {
        start >> price >> end; //~
    }
}

fn main() {}
