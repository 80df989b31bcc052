use flow_runtime::prelude::*;

mod steps {
    use flow_runtime::prelude::*;
    #[node]
    fn review() {}
    flow! { Review() { start >> review >> end; } }
}

flow! {
    Approval() {
        start >> steps::Review >> end; //~
    }
}

fn main() {}
