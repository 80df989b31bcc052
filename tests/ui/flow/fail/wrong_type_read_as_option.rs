use flow_runtime::prelude::*;

#[node]
fn show(price: Option<&str>) {
    let _ = price;
}

flow! {
    Shop(price: Option<u64>) {
        start >> show >> end; //~
    }
}

fn main() {}
