use flow_runtime::prelude::*;

#[node]
fn pay() {}

flow! {
    Payment() {
        start >> pay >> end("error"); //~
    }
}

fn main() {}
