// CF-12
use flow_runtime::prelude::*;

#[node]
fn review() {}
#[node]
fn pay() {}

flow! {
    Approval() {
        start >> review >> end;
        pay >> end; //~
    }
}

fn main() {}
