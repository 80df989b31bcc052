use flow_runtime::prelude::*;

#[node]
fn pay() {}

flow! {
    Payment() -> (receipt: u64) { //~
        start >> pay >> end;
    }
}

fn main() {}
