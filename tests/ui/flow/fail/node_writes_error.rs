use flow_runtime::prelude::*;

#[node(writes = error)]
fn check() -> String { String::new() }

flow! {
    Check() {
        start >> check >> end; //~
    }
}

fn main() {}
