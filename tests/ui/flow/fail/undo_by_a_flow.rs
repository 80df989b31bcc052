use flow_runtime::prelude::*;

#[node(writes = receipt)]
fn charge() -> String { "r1".into() }
#[node]
fn refund(receipt: &str) { let _ = receipt; }

flow! { Refund(receipt: String) { start >> refund >> end; } }

flow! {
    Order() {
        node pay: charge with undo = Refund; //~
        start >> pay >> undo >> end;
    }
}

fn main() {}
