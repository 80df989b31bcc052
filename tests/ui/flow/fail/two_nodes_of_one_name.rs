mod cash {
    use flow_runtime::prelude::*;
    #[node]
    pub(crate) fn pay() {}
}
use flow_runtime::prelude::*;
#[node]
fn pay() {}

flow! {
    Payment() {
        start >> pay >> cash::pay >> end; //~
    }
}

fn main() {}
