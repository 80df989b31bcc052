use flow_runtime::prelude::*;

flow! {
    Order() //~
}

fn main() {}
