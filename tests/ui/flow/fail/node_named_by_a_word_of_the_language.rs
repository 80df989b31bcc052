mod steps {
    use flow_runtime::prelude::*;
    #[node]
    pub(crate) fn wait() {} //~
}
use flow_runtime::prelude::*;

flow! {
    Payment() {
        start >> steps::wait >> end;
    }
}

fn main() {}
