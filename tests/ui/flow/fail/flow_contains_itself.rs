use flow_runtime::prelude::*;

#[node]
fn pay() {}

flow! {
    Payment() {
        start >> pay >> Payment >> end; //~
    }
}

fn main() {}
