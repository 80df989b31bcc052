use flow_runtime::prelude::*;

#[node]
fn pay() {}

flow! {
    Order() {
        start >> 3 >> pay >> end; //~
    }
}

fn main() {}
