use flow_runtime::prelude::*;

#[node(writes = receipt)]
fn charge() -> String { "r1".into() }
#[node(writes = note)]
fn refund(receipt: &str) -> String { receipt.into() }
#[node]
fn mail(note: &str) { let _ = note; }

flow! {
    Order() {
        node pay: charge with undo = refund; //~
        start >> pay >> mail >> end;
    }
}

fn main() {}
