use flow_runtime::prelude::*;

#[node]
fn show(price: String) {
    let _ = price;
}

flow! {
    Shop(price: u64) {
        start >> show >> end; //~
    }
}

fn main() {}
