use flow_runtime::prelude::*;

#[node]
fn length(line: &str) -> usize { line.len() }

flow! {
    Lengths(lines: Vec<String>) -> (lengths: Vec<usize>) {
        node lengths: for line in lines { length(line) }; //~

        start >> lengths >> end;
    }
}

fn main() {}
