use flow_runtime::prelude::*;

#[node(writes = receipt)]
fn pay() -> u64 { 3 }

flow! {
    Payment() -> (reciept: u64) { //~
        start >> pay >> end;
    }
}

fn main() {}
