use flow_runtime::prelude::*;

#[node]
fn pay() {}

flow! {
    Payment() {
        start - "paid" >> pay >> end; //~
    }
}

fn main() {}
