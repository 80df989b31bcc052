use flow_runtime::prelude::*;

#[node(writes = end)]
fn pay() -> u64 { 3 }

flow! {
    Payment() -> (end: u64) { //~
        start >> pay >> end;
    }
}

fn main() {}
