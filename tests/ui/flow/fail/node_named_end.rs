use flow_runtime::prelude::*;

#[node]
fn pay() {}

flow! {
    Payment() {
        node end: pay; //~
        start >> end >> end;
    }
}

fn main() {}
