// The body of a loop adds one value and returns another one.
use flow_runtime::prelude::*;

#[node(writes(length, +log))]
fn read(line: &str) -> (usize, String) { (line.len(), line.to_owned()) }

flow! {
    Lines(lines: Vec<String>) -> (lengths: Vec<usize>, log: Vec<String>) {
        node lengths: for line in lines { read }; //~
        start >> lengths >> end;
    }
}

fn main() {}
