use flow_runtime::prelude::*;

#[node]
fn poll() {}

flow! {
    Wait() {
        start >> poll >> poll; //~
    }
}

fn main() {}
