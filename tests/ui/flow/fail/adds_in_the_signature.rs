// The node says that it adds, not the output.
use flow_runtime::prelude::*;

#[node(writes = log)]
fn note() -> String { "begun".to_owned() }

flow! {
    Notes() -> (+log: Vec<String>) { //~
        start >> note >> end;
    }
}

fn main() {}
