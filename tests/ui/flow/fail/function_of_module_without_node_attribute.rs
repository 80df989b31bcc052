use flow_runtime::prelude::*;

mod steps {
    pub(crate) fn review() {}
}

flow! {
    Approval() {
        start >> steps::review >> end; //~
    }
}

fn main() {}
