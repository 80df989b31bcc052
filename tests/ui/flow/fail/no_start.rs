use flow_runtime::prelude::*;

#[node]
fn pay() {}

flow! {
    Payment() { //~
        pay >> end;
    }
}

fn main() {}

// PF-45
