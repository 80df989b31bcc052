use flow_runtime::prelude::*;

#[node]
fn pay(amount: &u64) { let _ = amount; }

flow! {
    Order(amount: u64) {
        start >> pay(amount) >> end; //~
    }
}

fn main() {}
