use flow_runtime::prelude::*;

#[node(writes = receipt)]
fn charge() -> String { "r1".into() }
#[node]
fn refund(receipt: &str) { let _ = receipt; }

flow! {
    Order() {
        node give_back: refund with was = "refund"; //~
        node pay: charge with undo = give_back;
        start >> pay >> undo >> end;
    }
}

fn main() {}
