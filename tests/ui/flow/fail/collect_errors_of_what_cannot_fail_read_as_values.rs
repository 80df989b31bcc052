use flow_runtime::prelude::*;

#[node]
fn length(line: &str) -> usize { line.len() }
#[node]
fn total(lengths: &[usize]) -> usize { lengths.iter().sum() }

flow! {
    Lines(lines: Vec<String>) -> (total: usize) {
        node lengths: for line in lines { length } with collect_errors; //~
        start >> lengths >> total >> end;
    }
}

fn main() {}
