use flow_runtime::prelude::*;

#[node]
fn review() {}

flow! {
    Approval() {
        node first: reviw; //~
        start >> first >> end;
    }
}

fn main() {}
