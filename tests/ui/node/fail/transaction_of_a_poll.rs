use flow_runtime::prelude::*;

struct Transaction;

#[node(transaction, poll(every = "1s"))] //~
async fn post(tx: &mut Transaction, amount: &u32) -> Option<u32> {
    let _ = tx;
    Some(*amount)
}

fn main() {}
