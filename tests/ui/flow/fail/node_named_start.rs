use flow_runtime::prelude::*;

#[node]
fn pay() {}

flow! {
    Payment() {
        node start: pay; //~
        start >> pay >> end;
    }
}

fn main() {}
