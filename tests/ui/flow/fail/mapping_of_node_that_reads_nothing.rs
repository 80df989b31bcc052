use flow_runtime::prelude::*;

#[node]
fn pay() {}

flow! {
    Payment(price: u64) {
        node pay: pay { amount <- price }; //~
        start >> pay >> end;
    }
}

fn main() {}
