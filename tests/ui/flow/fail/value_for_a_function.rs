use flow_runtime::prelude::*;

#[node]
fn pay() {}

flow! {
    Payment() {
        node pay: pay = pay(); //~
        start >> pay >> end;
    }
}

fn main() {}
