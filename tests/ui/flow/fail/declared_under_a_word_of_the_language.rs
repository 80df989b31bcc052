use flow_runtime::prelude::*;

#[node]
fn pay(amount: &u64) -> u64 { *amount }

flow! { Payment(amount: u64) -> (pay: u64) { node node: pay; start >> node >> end; } } //~
flow! { Payments(amounts: Vec<u64>) -> (branch: Vec<u64>) {
    node branch: for amount in amounts { pay }; //~
    start >> branch >> end;
} }

fn main() {}
