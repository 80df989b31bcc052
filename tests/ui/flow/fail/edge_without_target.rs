use flow_runtime::prelude::*;

#[node]
fn pay() {}

flow! {
    Order() {
        start >> pay;
        pay >> ; //~
    }
}

fn main() {}

// CB-18 (b)
