use flow_runtime::prelude::*;

#[node]
fn pay() {}

flow! {
    Payment() {
        start >> pay;
        pay - "paid" >> end; //~
    }
}

fn main() {}
