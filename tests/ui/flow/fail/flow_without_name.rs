use flow_runtime::prelude::*;

#[node]
fn pay() {}

flow! {
    (amount: u64) { //~
        start >> pay >> end;
    }
}

fn main() {}
