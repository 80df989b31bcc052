use flow_runtime::prelude::*;

#[node]
fn pay() {}

flow! {
    Payment() {
        node pay: pay with collect_errors; //~
        start >> pay >> end;
    }
}

fn main() {}
