use flow_runtime::prelude::*;

#[node(human = "Deploy?")] //~
fn approve() -> bool {
    true
}

fn main() {}
