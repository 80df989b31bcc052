use flow_runtime::prelude::*;

#[node(writes = receipt)]
fn charge() -> String { "r1".into() }
#[node]
fn refund(receipt: &str) { let _ = receipt; }
#[node]
fn charge_again() {}

flow! {
    Order() {
        node refunded: refund with undo = charge_again; //~
        node pay: charge with undo = refunded;
        start >> pay >> undo >> end;
    }
}

fn main() {}
