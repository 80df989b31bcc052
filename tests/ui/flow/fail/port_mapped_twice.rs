use flow_runtime::prelude::*;

#[node]
fn pay(amount: &u64) { let _ = amount; }

flow! {
    Payment(price: u64, tip: u64) {
        node pay: pay { amount <- price, amount <- tip }; //~
        start >> pay >> end;
    }
}

fn main() {}
