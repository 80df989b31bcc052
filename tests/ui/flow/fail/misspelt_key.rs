use flow_runtime::prelude::*;

#[node]
fn pay(amuont: &u64) {
    let _ = amuont;
}

flow! {
    Payment(amount: u64) {
        start >> pay >> end; //~
    }
}

fn main() {}
