use flow_runtime::prelude::*;

fn review() {}

flow! {
    Approval() {
        start >> review >> end; //~
    }
}

fn main() {}
