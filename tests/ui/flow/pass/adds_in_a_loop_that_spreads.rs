// The items of the loop are spread, and its body adds.
use flow_runtime::prelude::*;

#[node(writes = +total)]
async fn length(line: &str) -> usize { line.len() }

flow! {
    Lines(lines: Vec<String>) -> (total: usize) {
        node lengths: for line in lines { length } with spread(2);
        start >> lengths >> end;
    }
}

fn main() {}
