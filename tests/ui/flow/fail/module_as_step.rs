use flow_runtime::prelude::*;

mod review {}

flow! {
    Approval() {
        start >> review >> end; //~
    }
}

fn main() {}
