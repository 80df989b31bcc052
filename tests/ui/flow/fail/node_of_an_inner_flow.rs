use flow_runtime::prelude::*;

#[node]
fn charge(price: &u64) -> u64 { *price }

flow! {
    Payment(price: u64) -> (charge: u64) { start >> charge >> end; }
}

flow! {
    Order(price: u64) -> (charge: u64) {
        start >> Payment::charge >> end; //~
    }
}

fn main() {}
