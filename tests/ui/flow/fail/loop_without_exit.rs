// CF-12
use flow_runtime::prelude::*;

#[node]
fn draft() {}
#[node]
fn review() {}

flow! {
    Book() {
        start >> draft >> review >> draft; //~
    }
}

fn main() {}
