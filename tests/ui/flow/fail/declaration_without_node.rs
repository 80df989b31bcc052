use flow_runtime::prelude::*;

#[node(writes = paid)]
fn pay(amount: u64) -> u64 { amount }

flow! {
    Order(total: u64) -> (paid: u64) {
        payment: pay { amount <- total }; //~
        start >> payment >> end;
    }
}

fn main() {}
