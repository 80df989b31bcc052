use flow_runtime::prelude::*;

#[node(signal)] //~
fn cancel() -> bool {
    true
}

fn main() {}
