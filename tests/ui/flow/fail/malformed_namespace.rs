use flow_runtime::prelude::*;

#[node]
fn pay() {}

flow! {
    Payment() {
        namespace "orders..payment"; //~
        start >> pay >> end;
    }
}

fn main() {}
