use flow_runtime::prelude::*;

#[node]
fn pay() {}

flow! {
    Payment() {
        start >> pay >> end("!"); //~
    }
}

fn main() {}
