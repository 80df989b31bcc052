// A list of numbers is added to a list of texts.
use flow_runtime::prelude::*;

#[node(writes = +log)]
fn note() -> Vec<u64> { vec![3] }

flow! {
    Notes() -> (log: Vec<String>) {
        start >> note >> end; //~
    }
}

fn main() {}
