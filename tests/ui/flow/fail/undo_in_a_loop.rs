use flow_runtime::prelude::*;

#[node(writes = receipt)]
fn charge() -> String { "r1".into() }
#[node]
fn refund(receipt: &str) { let _ = receipt; }

flow! {
    Order(orders: Vec<u64>) {
        node pay: charge with undo = refund;
        node all: for order in orders { undo }; //~
        start >> pay >> all >> end;
    }
}

fn main() {}
