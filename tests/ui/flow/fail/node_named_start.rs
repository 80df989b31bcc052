use flow_runtime::prelude::*;

#[node]
fn pay() {}

flow! {
    Payment() {
        node start: pay; //~
        pay >> start;
        start >> start >> end;
    }
}

fn main() {}
