use flow_runtime::prelude::*;

#[node]
fn ship(order: &u64) { let _ = order; }
#[node]
fn recall() {}

flow! {
    Orders(orders: Vec<u64>) {
        node parcels: for order in orders { ship } with undo = recall; //~
        start >> parcels >> end;
    }
}

fn main() {}
