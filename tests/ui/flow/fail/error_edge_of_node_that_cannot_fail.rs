use flow_runtime::prelude::*;

#[node]
fn pay() {}

flow! {
    Payment() {
        start >> pay >> end;
        pay - "error" >> end("failed"); //~
    }
}

fn main() {}
