use flow_runtime::prelude::*;

#[node(transaction)] //~
async fn post(amount: &u32) -> u32 {
    *amount
}

fn main() {}
