use flow_runtime::prelude::*;

flow! {
    Payment() {} //~
}

fn main() {}
