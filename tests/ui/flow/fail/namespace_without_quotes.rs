use flow_runtime::prelude::*;

#[node]
fn pay() {}

flow! {
    Payment() {
        namespace orders; //~
        start >> pay >> end;
    }
}

fn main() {}
