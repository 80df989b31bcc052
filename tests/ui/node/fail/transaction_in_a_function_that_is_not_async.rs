use flow_runtime::prelude::*;

struct Transaction;

#[node(transaction)] //~
fn post(tx: &mut Transaction, amount: &u32) -> u32 {
    let _ = tx;
    *amount
}

fn main() {}
