// A branch reads what only another branch adds.
use flow_runtime::prelude::*;

#[node(writes = +log)]
fn note() -> String { "begun".to_owned() }
#[node]
fn show(log: &[String]) -> usize { log.len() }

flow! {
    Notes() -> (log: Vec<String>, show: usize) {
        start >> [note, show] >> end; //~
    }
}

fn main() {}
