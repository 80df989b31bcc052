use flow_runtime::prelude::*;

#[node]
fn charge() {}
#[node]
fn refund(receipt: &str) { let _ = receipt; }

flow! {
    Order() {
        node pay: charge with undo = refund; //~
        start >> pay >> undo >> end;
    }
}

fn main() {}
