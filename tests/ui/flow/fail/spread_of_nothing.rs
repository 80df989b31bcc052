use flow_runtime::prelude::*;

#[node]
fn length(tag: &str) -> usize { tag.len() }

flow! {
    Tagged(tags: Vec<String>) -> (lengths: Vec<usize>) {
        node lengths: for tag in tags { length } with spread(0); //~
        start >> lengths >> end;
    }
}

fn main() {}
