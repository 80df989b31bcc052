use flow_runtime::prelude::*;

#[allow(non_snake_case)]
#[node]
fn Pay() {}

flow! {
    Payment() {
        start >> Pay >> end; //~
    }
}

fn main() {}
