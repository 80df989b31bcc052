use flow_runtime::prelude::*;

#[node]
async fn charge() {}
#[node(writes = receipt)]
async fn print() -> String { String::new() }
#[node]
fn refund(receipt: &str) { let _ = receipt; }

flow! {
    Order() {
        node pay: charge with undo = refund; //~
        start >> [pay, print] >> undo >> end;
    }
}

fn main() {}
