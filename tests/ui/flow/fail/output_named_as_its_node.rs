use flow_runtime::prelude::*;

#[node(writes = receipt)]
fn pay(amount: &u64) -> String { format!("paid {amount}") }

flow! {
    Payment(amount: u64) -> (pay: String) { //~
        start >> pay >> end;
    }
}

fn main() {}
