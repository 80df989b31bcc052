use flow_runtime::prelude::*;

#[node]
fn pay(amount: &u64) { let _ = amount; }

flow! {
    Order(price: u64) {
        node payment: pay { amount = price }; //~
        start >> payment >> end;
    }
}

fn main() {}
