use flow_runtime::prelude::*;

#[node(writes = receipt)]
fn charge() -> String { "r1".into() }

flow! {
    Order() {
        start >> charge >> commit >> end; //~
    }
}

fn main() {}
