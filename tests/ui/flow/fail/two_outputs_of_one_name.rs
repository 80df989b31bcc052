use flow_runtime::prelude::*;

#[node]
fn pay() -> u64 { 3 }

flow! {
    Payment() -> (pay: u64, pay: u64) { //~
        start >> pay >> end;
    }
}

fn main() {}
