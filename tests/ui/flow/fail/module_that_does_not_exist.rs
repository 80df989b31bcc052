use flow_runtime::prelude::*;

flow! {
    Approval() {
        start >> steps::review >> end; //~
    }
}

fn main() {}
