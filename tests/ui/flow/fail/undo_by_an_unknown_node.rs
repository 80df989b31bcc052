use flow_runtime::prelude::*;

#[node(writes = receipt)]
fn charge() -> String { "r1".into() }
#[node]
fn refund(receipt: &str) { let _ = receipt; }

flow! {
    Order() {
        node pay: charge with undo = refunds; //~
        start >> pay >> undo >> end;
    }
}

fn main() {}
