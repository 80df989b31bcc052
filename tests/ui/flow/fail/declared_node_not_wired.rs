use flow_runtime::prelude::*;

#[node]
fn review() {}

flow! {
    Approval() {
        node second: review; //~
        start >> review >> end;
    }
}

fn main() {}
