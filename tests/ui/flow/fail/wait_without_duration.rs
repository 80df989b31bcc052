use flow_runtime::prelude::*;

#[node]
fn pay() {}

flow! {
    Payment() {
        start >> wait >> pay >> end; //~
    }
}

fn main() {}
