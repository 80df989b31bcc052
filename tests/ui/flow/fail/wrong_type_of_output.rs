use flow_runtime::prelude::*;

#[node]
fn price() -> u64 {
    3
}

flow! {
    Shop() -> (price: String) { //~
        start >> price >> end;
    }
}

fn main() {}
