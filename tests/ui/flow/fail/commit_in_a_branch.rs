use flow_runtime::prelude::*;

#[node(writes = receipt)]
fn charge() -> String { "r1".into() }
#[node]
fn refund(receipt: &str) { let _ = receipt; }
#[node]
fn mail() {}

flow! {
    Order() {
        node pay: charge with undo = refund;
        start >> pay >> [mail >> commit, wait(5s)] >> end; //~
    }
}

fn main() {}
