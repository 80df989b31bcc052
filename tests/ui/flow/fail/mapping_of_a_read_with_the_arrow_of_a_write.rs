use flow_runtime::prelude::*;

#[node(writes = receipt)]
fn pay(amount: &u64) -> String { format!("paid {amount}") }

flow! {
    Payment(claim: u64) -> (receipt: String) {
        node fee: pay { claim -> amount }; //~
        start >> fee >> end;
    }
}

fn main() {}
