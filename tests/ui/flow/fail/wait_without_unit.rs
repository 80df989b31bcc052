use flow_runtime::prelude::*;

#[node]
fn pay() {}

flow! {
    Payment() {
        start >> wait(5) >> pay >> end; //~
    }
}

fn main() {}
