use flow_runtime::prelude::*;

#[node]
fn pay() {}
#[node]
fn apologise(error: &NodeError) {
    let _ = error;
}

flow! {
    Payment() {
        start >> pay >> apologise >> end; //~
    }
}

fn main() {}
