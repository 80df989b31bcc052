use flow_runtime::prelude::*;

#[node]
fn pay() -> u64 { 3 }

flow! {
    Order() -> u64 { //~
        start >> pay >> end;
    }
}

fn main() {}
