use flow_runtime::prelude::*;

#[node]
fn pay() {}

flow! {
    Order<T>() { //~
        start >> pay >> end;
    }
}

fn main() {}
