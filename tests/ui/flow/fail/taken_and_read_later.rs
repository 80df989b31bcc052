use flow_runtime::prelude::*;

struct Order;

#[node]
fn order() -> Order { Order }
#[node]
fn ship(order: Order) { let _ = order; }
#[node]
fn bill(order: &Order) { let _ = order; }

flow! {
    Shop() {
        start >> order >> ship >> bill >> end; //~
    }
}

fn main() {}
