// One branch adds to the key, and another one replaces its value.
use flow_runtime::prelude::*;

#[node(writes = log)]
fn clear() -> Vec<String> { Vec::new() }
#[node(writes = +log)]
fn note() -> String { "begun".to_owned() }

flow! {
    Notes(log: Vec<String>) -> (log: Vec<String>) {
        start >> [clear, note] >> end; //~
    }
}

fn main() {}
