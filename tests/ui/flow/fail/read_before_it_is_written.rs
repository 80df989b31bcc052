use flow_runtime::prelude::*;

#[node]
fn price() -> u64 {
    3
}
#[node]
fn pay(price: &u64) {
    let _ = price;
}

flow! {
    Payment() {
        start >> pay >> price >> end; //~
    }
}

fn main() {}
