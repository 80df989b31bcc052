use flow_runtime::prelude::*;

mod steps {
    use flow_runtime::prelude::*;

    #[node]
    fn review() {}
}

flow! {
    Approval() {
        start >> steps::review >> end; //~
    }
}

fn main() {}
