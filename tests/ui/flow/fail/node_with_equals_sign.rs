use flow_runtime::prelude::*;

#[node]
fn pay() {}

flow! {
    Order() {
        node payment = pay; //~
        start >> pay >> end;
    }
}

fn main() {}
