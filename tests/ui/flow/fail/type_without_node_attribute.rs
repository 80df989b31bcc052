use flow_runtime::prelude::*;

#[derive(Default)]
struct Review;

flow! {
    Approval() {
        start >> Review >> end; //~ //~
    }
}

fn main() {}
