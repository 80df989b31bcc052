use flow_runtime::prelude::*;

#[node]
fn length(tag: &str) -> usize { tag.len() }

#[node]
fn count(tags: &[String]) -> usize { tags.len() }

flow! {
    Tagged(tags: Vec<String>) -> (lengths: Vec<usize>, count: usize) {
        node lengths: for tag in tags { length } with spread(16); //~
        start >> [lengths, count] >> end;
    }
}

fn main() {}
