use flow_runtime::prelude::*;

#[node]
fn pay(amount: &u64) { let _ = amount; }

flow! {
    Payment(price: Option<u64>) {
        start >> pay { amount <- price } >> end; //~
    }
}

fn main() {}
