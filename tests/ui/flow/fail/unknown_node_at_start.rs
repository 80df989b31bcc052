// CF-03
use flow_runtime::prelude::*;

flow! {
    Approval() {
        start >> nowhere >> end; //~
    }
}

fn main() {}
