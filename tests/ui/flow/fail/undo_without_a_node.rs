use flow_runtime::prelude::*;

#[node(writes = receipt)]
fn charge() -> String { "r1".into() }

flow! {
    Order() {
        node pay: charge with undo; //~
        node back: charge with undo = ; //~
        start >> pay >> back >> end;
    }
}

fn main() {}
