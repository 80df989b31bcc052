use flow_runtime::prelude::*;

mod steps {
    use flow_runtime::prelude::*;

    #[node]
    pub(crate) fn review() {}
}

flow! {
    Approval() {
        start >> steps::reviw >> end; //~
    }
}

fn main() {}
