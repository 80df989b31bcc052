// A number is added to a list of texts that an input begins.
use flow_runtime::prelude::*;

#[node(writes = +log)]
fn count() -> u64 { 3 }

flow! {
    Notes(log: Vec<String>) -> (log: Vec<String>) {
        start >> count >> end; //~
    }
}

fn main() {}
