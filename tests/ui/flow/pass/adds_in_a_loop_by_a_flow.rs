// The body of a loop is a flow, whose only output is added.
#![deny(warnings)]
use flow_runtime::prelude::*;

#[node]
fn length(line: &str) -> usize { line.len() }

flow! {
    Measure(line: String) -> (length: usize) { start >> length >> end; }
}
flow! {
    Lines(lines: Vec<String>) -> (total: usize) {
        node lengths: for line in lines { Measure { length -> +total } };
        start >> lengths >> end;
    }
}

fn main() {}
