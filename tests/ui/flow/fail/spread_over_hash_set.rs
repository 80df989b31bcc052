use flow_runtime::prelude::*;
use std::collections::HashSet;

#[node]
fn length(tag: &str) -> usize { tag.len() }

flow! {
    Tagged(tags: HashSet<String>) -> (lengths: Vec<usize>) {
        node lengths: for tag in tags { length } with spread(16); //~
        start >> lengths >> end;
    }
}

fn main() {}
