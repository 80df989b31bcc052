use flow_runtime::prelude::*;

#[node(writes = paid)]
fn pay(amount: u64) -> u64 { amount }

flow! {
    Order(amount: u64 +) -> (paid: u64) { //~
        start >> pay >> end;
    }
}

fn main() {}
