use flow_runtime::prelude::*;

#[node]
fn pay(amount: &u64) -> u64 { *amount }

flow! { Payment(amount: u64) -> (pay: u64) { start >> pay >> end; } }

flow! {
    Order(amount: u64) -> (pay: u64) {
        node payment: Payment(amount); //~
        start >> payment >> end;
    }
}

fn main() {}
