use flow_runtime::prelude::*;

#[node]
fn pay() {}

flow! {
    Payment() {
        start >> wait(0s) >> pay >> end; //~
    }
}

fn main() {}
