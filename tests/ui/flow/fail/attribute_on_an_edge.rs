use flow_runtime::prelude::*;

#[node]
fn pay() {}

flow! {
    Order() {
        #[cfg(test)] //~
        start >> pay >> end;
    }
}

fn main() {}
