// A length is added to a sum of another type of numbers.
use flow_runtime::prelude::*;

#[node(writes = +total)]
fn length(line: &str) -> usize { line.len() }

flow! {
    Total(line: String) -> (total: u64) {
        start >> length >> end; //~
    }
}

fn main() {}
