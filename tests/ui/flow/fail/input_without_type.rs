use flow_runtime::prelude::*;

#[node]
fn pay(amount: &u64) { let _ = amount; }

flow! {
    Order(amount) { //~
        start >> pay >> end;
    }
}

fn main() {}
