use flow_runtime::prelude::*;

#[node(writes = paid)]
fn pay(amount: u64) -> u64 { amount }

flow! {
    Order(total: u64) -> (paid: u64) {
        self: pay { amount <- total }; //~
        start >> pay >> end;
    }
}

fn main() {}
