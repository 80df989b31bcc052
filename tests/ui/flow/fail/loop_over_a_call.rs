use flow_runtime::prelude::*;

#[node]
fn length(line: &str) -> usize { line.len() }

flow! {
    Lengths(text: String) -> (lengths: Vec<usize>) {
        node lengths: for line in split(text) { length }; //~

        start >> lengths >> end;
    }
}

fn main() {}
