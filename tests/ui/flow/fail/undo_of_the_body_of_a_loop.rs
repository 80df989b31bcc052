use flow_runtime::prelude::*;

#[node]
fn ship(order: &u64) { let _ = order; }
#[node]
fn recall(order: &u64) { let _ = order; }

flow! {
    Orders(orders: Vec<u64>) {
        node send: ship with undo = recall; //~
        node parcels: for order in orders { send };
        start >> parcels >> undo >> end;
    }
}

fn main() {}
