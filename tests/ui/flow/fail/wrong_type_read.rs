use flow_runtime::prelude::*;

#[node]
fn price() -> u64 {
    3
}
#[node]
fn show(price: &str) {
    let _ = price;
}

flow! {
    Shop() {
        start >> price >> show >> end; //~
    }
}

fn main() {}
