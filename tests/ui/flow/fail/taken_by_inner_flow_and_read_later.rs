use flow_runtime::prelude::*;

pub struct Order;
#[node]
fn pack(order: &Order) { let _ = order; }
flow! { Shipping(order: Order) { start >> pack >> end; } }
#[node]
fn bill(order: &Order) { let _ = order; }

flow! {
    Shop(order: Order) {
        start >> Shipping >> bill >> end; //~
    }
}

fn main() {}
