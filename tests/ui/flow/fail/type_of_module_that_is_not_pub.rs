use flow_runtime::prelude::*;

mod steps {
    use flow_runtime::prelude::*;
    #[derive(Default)]
    struct Review;
    #[node]
    impl Review { fn exec(&self) {} }
}

flow! {
    Approval() {
        start >> steps::Review >> end; //~
    }
}

fn main() {}
