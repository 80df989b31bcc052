use flow_runtime::prelude::*;

#[node(writes = receipt)]
fn pay() -> u64 { 3 }

flow! {
    Payment() -> (bill: u64) {
        node pay: pay { reciept -> bill }; //~
        start >> pay >> end;
    }
}

fn main() {}
