// CF-03
use flow_runtime::prelude::*;

#[node]
fn review() {}

flow! {
    Approval() {
        start >> reviw >> end; //~
    }
}

fn main() {}
