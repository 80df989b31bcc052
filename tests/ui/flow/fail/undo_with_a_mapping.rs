use flow_runtime::prelude::*;

#[node(writes = receipt)]
fn charge() -> String { "r1".into() }
#[node]
fn refund(number: &str) { let _ = number; }

flow! {
    Order() {
        node pay: charge with undo = refund { number <- receipt }; //~
        start >> pay >> undo >> end;
    }
}

fn main() {}
