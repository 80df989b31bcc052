use flow_runtime::prelude::*;

#[node]
fn pay(amount: &u64) { let _ = amount; }

flow! {
    Payment(price: u64) {
        start >> pay { amuont <- price } >> end; //~
    }
}

fn main() {}
