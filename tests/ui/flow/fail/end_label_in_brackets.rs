use flow_runtime::prelude::*;

#[node]
fn pay() {}

flow! {
    Order() {
        start >> pay >> end["paid"]; //~
    }
}

fn main() {}
