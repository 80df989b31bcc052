use flow_runtime::prelude::*;

#[node]
fn charge() {}
#[node]
fn refund() {}

flow! { Pay() { start >> charge >> end; } }

flow! {
    Order() {
        node pay: Pay with undo = refund; //~
        start >> pay >> end;
    }
}

fn main() {}
