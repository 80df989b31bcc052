use flow_runtime::prelude::*;

#[node]
fn count(tags: &[String]) -> usize { tags.len() }

flow! {
    Counted(tags: Vec<String>) -> (count: usize) {
        node count: count with spread(16); //~
        start >> count >> end;
    }
}

fn main() {}
