use flow_runtime::prelude::*;

#[node]
fn pay() {}

flow! {
    Payment() {
        start >> wait >> end;
        node wait: pay; //~
    }
}

fn main() {}
