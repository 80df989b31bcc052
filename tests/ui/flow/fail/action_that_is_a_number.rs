use flow_runtime::prelude::*;

#[node]
fn pay() {}

flow! {
    Order() {
        start >> pay;
        pay - 3 >> end; //~
    }
}

fn main() {}
