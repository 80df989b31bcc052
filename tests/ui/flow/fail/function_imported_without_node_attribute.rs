use flow_runtime::prelude::*;
use steps::review;

mod steps {
    pub(crate) fn review() {}
}

flow! {
    Approval() {
        start >> review >> end; //~
    }
}

fn main() {}
