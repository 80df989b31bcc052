use flow_runtime::prelude::*;

#[node(writes = receipt)]
fn charge() -> String { "r1".into() }
#[node]
fn refund(receipt: &str) { let _ = receipt; }

flow! {
    Order() {
        start >> charge with undo = refund >> end; //~
    }
}

fn main() {}
