use flow_runtime::prelude::*;

#[node]
fn pay(amount: &u64) { let _ = amount; }

flow! {
    Payment(price: u64) {
        node pay: pay { amount -> price }; //~
        start >> pay >> end;
    }
}

fn main() {}
