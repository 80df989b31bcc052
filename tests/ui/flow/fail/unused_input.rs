use flow_runtime::prelude::*;

#[node]
fn pay() {}

flow! {
    Payment(amount: u64) { //~
        start >> pay >> end;
    }
}

fn main() {}
