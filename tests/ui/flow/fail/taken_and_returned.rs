use flow_runtime::prelude::*;

pub struct Order;

#[node]
fn ship(order: Order) { let _ = order; }

flow! {
    Shop(order: Order) -> (order: Order) {
        start >> ship >> end; //~
    }
}

fn main() {}
