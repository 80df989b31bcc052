use flow_runtime::prelude::*;

#[node(writes = receipt)]
fn charge() -> String { "r1".into() }

flow! {
    Order() {
        node pay: charge with undo = undo; //~
        start >> pay >> undo >> end;
    }
}

fn main() {}
