use flow_runtime::prelude::*;
use steps::review; //~

mod steps {
    use flow_runtime::prelude::*;

    #[node]
    fn review() {}
}

flow! {
    Approval() {
        start >> review >> end;
    }
}

fn main() {}
