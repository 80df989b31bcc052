use flow_runtime::prelude::*;

#[node]
fn pay() {}

flow! {
    Payment() {
        node pay: pay with timeout = "3s", timeout = "4s"; //~
        start >> pay >> end;
    }
}

fn main() {}
