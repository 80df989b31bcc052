use flow_runtime::prelude::*;

#[node(timeout = "1s")]
fn pay() -> impl Future<Output = u64> { //~
    async { 3 }
}

flow! {
    Payment() -> (pay: u64) {
        start >> pay >> end;
    }
}

fn main() {}
