use flow_runtime::prelude::*;

#[node]
fn pay() {}

flow! {
    Payment() {
        namespace "orders";
        namespace "payment"; //~
        start >> pay >> end;
    }
}

fn main() {}
