use flow_runtime::prelude::*;

#[node]
fn length(line: &str) -> usize {
    line.len()
}

flow! {
    Lengths(lines: Vec<String>) -> (lengths: Vec<usize>) {
        node one: length;
        node lengths: for line in lines { one } with retry(attempts = 3); //~
        start >> lengths >> end;
    }
}

fn main() {}
