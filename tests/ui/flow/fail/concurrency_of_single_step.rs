use flow_runtime::prelude::*;

#[node]
fn pay() {}

flow! {
    Payment() {
        node pay: pay with concurrency(4); //~
        start >> pay >> end;
    }
}

fn main() {}
